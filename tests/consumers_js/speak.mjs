// An agent of the AI SDK that speaks Responses: its address stands on the command line, what it saw goes to stdout.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
const openai = createOpenAI({ baseURL: process.argv[2], apiKey: "none" });
const model = openai.responses("toy");
const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});
const question = {
  model,
  tools: { weather },
  stopWhen: stepCountIs(5),
  prompt: 'weather({"city": "Wien"}) weather({"city": "Graz"})',
};
const saw = {};

// by default it refers to the items of earlier steps by their ids
const whole = await generateText(question);
saw.whole = [whole.text, whole.steps.length];

const thinks = { openai: { store: false, forceReasoning: true, reasoningEffort: "low", reasoningSummary: "auto" } };
const stream = streamText({ ...question, providerOptions: thinks });
saw.streamed = [await stream.text, (await stream.steps).length];

const previousResponseId = whole.steps.at(-1).providerMetadata.openai.responseId;
const again = { model, prompt: "Say exactly: again", providerOptions: { openai: { previousResponseId } } };
saw.continued = (await generateText(again)).text;

const hosted = { model, prompt: "x", tools: { search: openai.tools.webSearch({}) }, maxRetries: 0 };
saw.refused = await generateText(hosted).catch((error) => [error.statusCode, error.message.includes("web_search")]);

console.log(JSON.stringify(saw));
