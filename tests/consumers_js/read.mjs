// Reads streams with the AI SDK. In: JSON jobs on stdin. Out: JSON of what each job's reader handed on.
import { createOpenResponses } from "@ai-sdk/open-responses";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

const openai = (url, fetch) => createOpenAI({ baseURL: url, apiKey: "none", fetch });
const READERS = {
  "openai responses": (url, fetch) => openai(url, fetch).responses("m"),
  "open-responses": (url, fetch) =>
    createOpenResponses({ url: `${url}/responses`, name: "loopback", apiKey: "none", fetch })("m"),
  "openai chat": (url, fetch) => openai(url, fetch).chat("m"),
  "openai-compatible": (url, fetch) =>
    createOpenAICompatible({ baseURL: url, name: "loopback", includeUsage: true, fetch })("m"),
};

function declared(job, ran) {
  const tools = {};
  for (const { name, custom } of job.tools) {
    const execute = job.urls.length > 1 ? (input, { toolCallId }) => ran(toolCallId, name, input) : undefined;
    tools[name] =
      custom && job.reader === "openai responses"
        ? { ...createOpenAI({ apiKey: "none" }).tools.customTool({ name }), execute }
        : tool({ description: "A tool.", inputSchema: jsonSchema({ type: "object" }), execute });
  }
  return tools;
}

// The n-th request goes to the n-th address, so that a second turn gets another answer.
async function read(job) {
  const said = { text: "", reasoning: "", calls: [], errors: [], ran: [], requests: [], finish: null, usage: null };
  const counted = (target, init) => {
    const turn = said.requests.push(JSON.parse(init.body)) - 1;
    return fetch(String(target).replace(job.urls[0], job.urls[turn]), init);
  };
  const ran = (id, name, input) => {
    said.ran.push([id, name, input]);
    return `result of ${id}`;
  };
  const result = streamText({
    model: READERS[job.reader](job.urls[0], counted),
    prompt: "When does the tide turn?",
    tools: declared(job, ran),
    stopWhen: stepCountIs(job.urls.length),
    maxRetries: 0,
    onError: () => {},
  });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") said.text += part.text;
    else if (part.type === "reasoning-delta") said.reasoning += part.text;
    else if (part.type === "tool-call") said.calls.push([part.toolCallId, part.toolName, part.input]);
    else if (part.type === "error") said.errors.push(String(part.error?.message ?? JSON.stringify(part.error)));
    else if (part.type === "finish") {
      const usage = part.totalUsage;
      said.finish = part.finishReason;
      said.usage = [
        usage.inputTokens,
        usage.outputTokens,
        usage.inputTokenDetails.cacheReadTokens,
        usage.outputTokenDetails.reasoningTokens,
      ];
    }
  }
  return said;
}

let input = "";
for await (const piece of process.stdin) input += piece;
const answers = [];
for (const job of JSON.parse(input)) {
  try {
    answers.push(await read(job));
  } catch (error) {
    answers.push({ thrown: String(error) });
  }
}
process.stdout.write(JSON.stringify(answers));
