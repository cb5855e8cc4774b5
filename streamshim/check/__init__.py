"""What an "OpenAI-compatible" endpoint really does: a checklist, item by item, with the bytes that prove it.

`run_checks` tries an endpoint, `judge_recorded` judges streams that were captured; both give a `CheckReport`, which
`report_json` and `report_page` turn into JSON and a page. `plan` says beforehand what would be asked, and the cost.
"""

from .items import CheckItem, CheckResult
from .plan import Plan, all_items, plan
from .recorded import judge_recorded
from .report_json import report_json
from .report_page import report_page
from .running import CheckReport, run_checks
from .verdict import Verdict, verdict

__all__ = [
    "CheckItem",
    "CheckReport",
    "CheckResult",
    "Plan",
    "Verdict",
    "all_items",
    "judge_recorded",
    "plan",
    "report_json",
    "report_page",
    "run_checks",
    "verdict",
]
