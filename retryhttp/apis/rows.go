package apis

import "net/http"

// The documents to which several rows refer.
const (
	sourceAGUI         = "https://docs.ag-ui.com/concepts/events"
	sourceAlibaba      = "https://help.aliyun.com/document_detail/149360.htm"
	sourceBaidu        = "https://ai.baidu.com/ai-doc/FACE/Zk5eyn5x3"
	sourceCohere       = "https://github.com/cohere-ai/cohere-python/blob/main/src/cohere/types/chat_finish_reason.py"
	sourceCoze         = "https://github.com/coze-dev/coze-py/blob/main/cozepy/chat/__init__.py"
	sourceDify         = "https://docs.dify.ai/en/api-reference/guides/streaming"
	sourceGoogle       = "https://developers.google.com/maps/documentation/geocoding/requests-geocoding"
	sourceJSONRPC      = "https://www.jsonrpc.org/specification"
	sourceMeta         = "https://developers.facebook.com/docs/graph-api/overview/rate-limiting"
	sourceMiniMax      = "https://platform.minimax.io/docs/api-reference/errorcode"
	sourceOpenAI       = "https://platform.openai.com/docs/guides/error-codes"
	sourceQianfan      = "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/hlzic283e"
	sourceS3           = "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorBestPractices.html"
	sourceVK           = "https://raw.githubusercontent.com/VKCOM/vk-api-schema/master/errors.json"
	sourceWeChat       = "https://developers.weixin.qq.com/doc/offiaccount/Getting_Started/Global_Return_Code.html"
	sourceWhatsApp     = "https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes"
	sourceBybit        = "https://bybit-exchange.github.io/docs/v5/error"
	sourceOpenAIEvents = "https://platform.openai.com/docs/api-reference/responses-streaming"
	sourceClaudeEvents = "https://platform.claude.com/docs/en/build-with-claude/streaming"
	sourceCohereEvents = "https://docs.cohere.com/reference/chat-stream"
)

// rows is what this package knows, apart from sentences and waits. Rows without a Source are
// for what many APIs have. What decides about the class stands before what only says that
// something failed, and both before what is no failure.
var rows = []Row{
	{Path: "event:", Value: "ping", Means: Quiet}, // whatever it says

	// Values in responses and events, each of one vendor.
	{Path: "code", Value: "99991400", Means: Throttled, Source: "https://open.feishu.cn/document/server-docs/api-call-guide/frequency-control"},
	{Path: "error.code", Value: "130429", Means: Throttled, Source: sourceWhatsApp},
	{Path: "error.code", Value: "131056", Means: Throttled, Source: sourceWhatsApp},
	{Path: "error.code", Value: "4", Has: "error.fbtrace_id", Means: Throttled, Source: sourceMeta},
	{Path: "error.code", Value: "17", Has: "error.fbtrace_id", Means: Throttled, Source: sourceMeta},
	{Path: "error.code", Value: "32", Has: "error.fbtrace_id", Means: Throttled, Source: sourceMeta},
	{Path: "error.code", Value: "613", Has: "error.fbtrace_id", Means: Throttled, Source: sourceMeta},
	{Path: "error.code", Value: "80004", Has: "error.fbtrace_id", Means: Throttled, Source: sourceMeta},
	{Path: "errors.code", Value: "3036", Status: http.StatusTooManyRequests, Means: Permanent, Source: "https://developers.cloudflare.com/workers-ai/platform/errors/"},
	{Path: "errors", Value: "required index state not present", Status: http.StatusPreconditionFailed, Means: Transient, Source: "https://developer.hashicorp.com/vault/docs/enterprise/consistency"},

	{Path: "errcode", Value: "-1", Has: "errmsg", Means: Transient, Source: sourceWeChat},
	{Path: "errcode", Value: "45009", Has: "errmsg", Means: Throttled, Source: sourceWeChat}, // the message says whether it is a day's quota
	{Path: "errcode", Value: "45011", Has: "errmsg", Means: Throttled, Source: sourceWeChat},
	{Path: "code", Value: "336501", Means: Throttled, Source: sourceQianfan},
	{Path: "code", Value: "336502", Means: Throttled, Source: sourceQianfan},
	{Path: "code", Value: "?pm_rate_limit_exceeded", Means: Throttled, Source: sourceQianfan},
	{Path: "error_code", Value: "336501", Means: Throttled, Source: sourceQianfan},
	{Path: "error_code", Value: "336502", Means: Throttled, Source: sourceQianfan},
	{Path: "error_code", Value: "18", Has: "error_msg", Means: Throttled, Source: sourceBaidu},
	{Path: "error_code", Value: "17", Has: "error_msg", Means: Permanent, Source: sourceBaidu},
	{Path: "Code", Value: "Throttling", Has: "RequestId", Means: Throttled, Source: sourceAlibaba},
	{Path: "Code", Value: "Throttling.?*", Has: "RequestId", Means: Throttled, Source: sourceAlibaba},
	{Path: "code", Value: "50013", Host: "okx.com", Means: Transient, Source: "https://web3.okx.com/onchainos/dev-docs/data/error"},
	{Path: "retCode", Value: "10006", Means: Throttled, Source: sourceBybit},
	{Path: "retCode", Value: "10018", Means: Throttled, Source: sourceBybit},
	{Path: "retCode", Value: "10016", Means: Transient, Source: sourceBybit},
	{Path: "error.error_code", Value: "6", Has: "error.error_msg", Means: Throttled, Source: sourceVK},
	{Path: "error.error_code", Value: "10", Has: "error.error_msg", Means: Transient, Source: sourceVK},
	{Path: "Response.Error.Code", Value: "RequestLimitExceeded", Means: Throttled, Source: "https://github.com/TencentCloud/tencentcloud-sdk-go/blob/master/tencentcloud/common/ratelimitretry.go"},
	{Path: "status", Value: "OVER_QUERY_LIMIT", Means: Throttled, Source: sourceGoogle},
	{Path: "status", Value: "OVER_DAILY_LIMIT", Means: Permanent, Source: sourceGoogle},
	{Path: "status", Value: "UNKNOWN_ERROR", Host: "maps.googleapis.com", Means: Transient, Source: sourceGoogle},
	{Path: "base_resp.status_code", Value: "1000", Means: Transient, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1001", Means: Transient, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1002", Means: Throttled, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1004", Means: Permanent, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1008", Means: Permanent, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1024", Means: Transient, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1026", Means: Permanent, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1033", Means: Transient, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "1039", Means: Permanent, Source: sourceMiniMax},
	{Path: "base_resp.status_code", Value: "2013", Means: Permanent, Source: sourceMiniMax},

	// Errors of S3 with status 200, after CopyObject, UploadPartCopy and CompleteMultipartUpload.
	{Path: "Error.Code", Value: "InternalError", Status: http.StatusOK, Has: "Error.RequestId", Means: Transient, Source: sourceS3},
	{Path: "Error.Code", Value: "ServiceUnavailable", Status: http.StatusOK, Has: "Error.RequestId", Means: Transient, Source: sourceS3},
	{Path: "Error.Code", Value: "SlowDown", Status: http.StatusOK, Has: "Error.RequestId", Means: Throttled, Source: sourceS3},

	// Answers of models that broke off.
	{Path: "event:", Value: "conversation.chat.failed", Means: Failed, Source: sourceCoze},
	{Path: "code", Value: "rate_limit_error", Has: "event", Means: Permanent, Source: "https://docs.dify.ai/en/api-reference/guides/errors"},
	{Path: "code", Value: "provider_quota_exceeded", Has: "status", Means: Permanent, Source: "https://docs.dify.ai/en/api-reference/guides/errors"},
	{Path: "response.error", Value: "any", Means: Failed, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.failed", Means: Transient, Source: sourceOpenAIEvents},
	{Path: "choices.error", Value: "any", Means: Failed, Source: "https://openrouter.ai/docs/api/reference/errors-and-debugging"},

	// Marks of a failure, whose class its codes tell.
	{Path: "event:", Value: "error", Means: Failed},
	{Path: "event", Value: "error", Has: "code", Means: Failed, Source: sourceDify},
	{Path: "type", Value: "error", Means: denied},
	{Path: "type", Value: "response.error", Means: Failed},
	{Path: "type", Value: "RUN_ERROR", Means: Failed, Source: sourceAGUI},
	{Path: "object", Value: "error", Means: denied, Source: "https://github.com/vllm-project/vllm"},
	{Path: "base_resp.status_code", Value: "!0", Means: denied, Source: sourceMiniMax},
	{Path: "error_code", Value: "!0", Has: "error_msg", Means: denied, Source: sourceBaidu},
	{Path: "error_code", Value: "!0", Means: refusedBody},
	{Path: "errcode", Value: "!0", Has: "errmsg", Means: denied, Source: sourceWeChat},
	{Path: "ok", Value: "false", Means: refusedBody, Source: "https://docs.slack.dev/apis/web-api/rate-limits"},
	{Path: "message", Value: "NOTOK", Means: Failed, Source: "https://docs.etherscan.io/resources/common-error-messages"},
	{Path: "error", Value: "any", Means: erred},
	{Path: "error", Value: "!0", Means: envelope},
	{Path: "error_code", Value: "any", Means: envelope},
	{Path: "errors", Value: "any", Means: envelope},
	{Path: "success", Value: "false", Means: envelope, Source: "https://developers.cloudflare.com/fundamentals/api/reference/limits/"},
	{Path: "data", Value: "null", Means: envelope, Source: "https://spec.graphql.org/October2021/#sec-Response-Format"},
	{Path: "result", Value: "null", Means: envelope, Source: "https://www.jsonrpc.org/specification_v1"},
	{Path: "status", Value: "0", Means: envelope, Source: "https://docs.etherscan.io/resources/common-error-messages"},
	{Path: "choices.finish_reason", Value: "error", Means: Transient, Source: "https://docs.mistral.ai/api/"},
	{Path: "delta.finish_reason", Value: "ERROR", Means: Transient, Source: sourceCohere},
	{Path: "delta.finish_reason", Value: "TIMEOUT", Means: Transient, Source: sourceCohere},
	{Path: "finish_reason", Value: "ERROR", Status: http.StatusOK, Means: Transient, Source: sourceCohere},
	{Path: "finish_reason", Value: "TIMEOUT", Status: http.StatusOK, Means: Transient, Source: sourceCohere},

	// Events without output.
	{Path: "event", Value: "ping", Means: Quiet, Source: sourceDify},
	{Path: "type", Value: "ping", Means: Quiet, Source: sourceClaudeEvents},
	{Path: "type", Value: "keepalive", Means: Quiet, Source: sourceOpenAIEvents},
	{Path: "delta", Value: emptyText, Means: Quiet, Source: sourceOpenAIEvents},
	{Path: "delta.text", Value: emptyText, Means: Quiet, Source: sourceClaudeEvents},
	{Path: "delta.thinking", Value: emptyText, Means: Quiet, Source: sourceClaudeEvents},
	{Path: "delta.partial_json", Value: emptyText, Means: Quiet, Source: sourceClaudeEvents},
	{Path: "delta.message.content.text", Value: emptyText, Means: Quiet, Source: sourceCohereEvents},
	{Path: "answer", Value: emptyText, Has: "task_id", Means: Begun, Source: sourceDify},
	{Path: "is_end", Value: "true", Has: "sentence_id", Means: End, Source: sourceQianfan},
	{Path: "result", Value: emptyText, Has: "sentence_id", Means: Begun, Source: sourceQianfan},
	{Path: "content", Value: emptyText, Has: "chat_id", Means: Begun, Source: sourceCoze},

	// The beginning and the end of answers.
	{Path: "type", Value: "message_start", Means: Begun, Source: sourceClaudeEvents}, // also Cohere's message-start
	{Path: "type", Value: "content_block_start", Means: Begun, Source: sourceClaudeEvents},
	{Path: "type", Value: "content-start", Means: Begun, Source: sourceCohereEvents},
	{Path: "type", Value: "message_stop", Means: Last, Source: sourceClaudeEvents},
	{Path: "type", Value: "message-end", Means: Last, Source: sourceCohereEvents},
	{Path: "type", Value: "RUN_STARTED", Means: Begun, Source: sourceAGUI},
	{Path: "type", Value: "STEP_STARTED", Means: Begun, Source: sourceAGUI},
	{Path: "type", Value: "TEXT_MESSAGE_START", Means: Begun, Source: sourceAGUI},
	{Path: "type", Value: "RUN_FINISHED", Means: Last, Source: sourceAGUI},
	{Path: "event_type", Value: "stream-start", Means: Begun, Source: sourceCohereEvents},
	{Path: "event_type", Value: "stream-end", Means: Last, Source: sourceCohereEvents},
	{Path: "type", Value: "response.completed", Means: Last, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.incomplete", Means: Last, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*created", Means: Begun, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*queued", Means: Begun, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*in_progress", Means: Begun, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*added", Means: Begun, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*searching", Means: Begun, Source: sourceOpenAIEvents},
	{Path: "type", Value: "response.*", Means: Output, Source: sourceOpenAIEvents},
	{Path: "event", Value: "workflow_started", Has: "task_id", Means: Begun, Source: sourceDify},
	{Path: "event", Value: "node_started", Has: "task_id", Means: Begun, Source: sourceDify},
	{Path: "event", Value: "message", Has: "task_id", Means: Output, Source: sourceDify},
	{Path: "event", Value: "agent_message", Has: "task_id", Means: Output, Source: sourceDify},
	{Path: "event", Value: "message_end", Has: "task_id", Means: End, Source: sourceDify},
	{Path: "event", Value: "workflow_finished", Has: "task_id", Means: End, Source: sourceDify},
	{Path: "event:", Value: "conversation.chat.created", Means: Begun, Source: sourceCoze},
	{Path: "event:", Value: "conversation.chat.in_progress", Means: Begun, Source: sourceCoze},
	{Path: "event:", Value: "conversation.message.*", Means: Output, Source: sourceCoze},
	{Path: "event:", Value: "conversation.chat.completed", Means: End, Source: sourceCoze},
	{Path: "event:", Value: "conversation.chat.requires_action", Means: End, Source: sourceCoze},
	{Path: "is_end", Value: "false", Has: "sentence_id", Means: Output, Source: sourceQianfan},

	// Codes of failures, in any of the fields for codes. Money is used up, or a quota of a day.
	{Value: "insufficient_quota", Means: Permanent, Source: sourceOpenAI},
	{Value: "insufficient_credit", Means: Permanent},
	{Value: "insufficient_credits", Means: Permanent},
	{Value: "insufficient_balance", Means: Permanent},
	{Value: "insufficient_funds", Means: Permanent},
	{Value: "billing_?*", Means: Permanent, Source: sourceOpenAI},
	{Value: "?*_spend_limit_?*", Means: Permanent, Source: sourceOpenAI},
	{Value: "?*_usage_limit_?*", Means: Permanent, Source: sourceOpenAI},
	{Value: "credit_*exhausted", Means: Permanent, Source: sourceOpenAI},
	{Value: "exceeded_current_quota_error", Means: Permanent, Source: "https://platform.moonshot.ai/docs/api/chat#error-codes"},
	{Value: "dailyLimitExceeded", Means: Permanent, Source: "https://developers.google.com/workspace/drive/api/guides/handle-errors"},

	{Value: "server_error", Means: Transient, Source: sourceOpenAI},
	{Value: "api_error", Means: Transient, Source: "https://platform.claude.com/docs/en/api/errors"},
	{Value: "timeout_error", Means: Transient, Source: "https://platform.claude.com/docs/en/api/errors"},
	{Value: "ModelNotReadyException", Means: Transient, Source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html"},
	{Value: "EService:Unavailable", Means: Transient, Source: "https://docs.kraken.com/api/docs/guides/spot-errors/"},

	{Value: "slow_down", Means: Throttled, Source: sourceOpenAI},
	{Value: "openrouter_in_flight_budget", Means: Throttled, Source: "https://openrouter.ai/docs/api/reference/errors-and-debugging"},
	{Value: "RESOURCE_EXHAUSTED", Means: Throttled, Source: "https://cloud.google.com/apis/design/errors"},
	{Value: "message_limit_exceeded", Means: Throttled, Source: "https://docs.slack.dev/apis/web-api/rate-limits"},
	{Value: "20429", Means: Throttled, Source: "https://www.twilio.com/docs/api/errors/20429"},
	{Value: "maxlag", Means: Throttled, Source: "https://www.mediawiki.org/wiki/Manual:Maxlag_parameter"},
	{Value: "EService:Busy", Means: Throttled, Source: "https://docs.kraken.com/api/docs/guides/spot-errors/"},
	{Value: "HOURLY_APIINVOCATION_LIMIT_EXCEEDED", Means: Throttled, Source: "https://developers.docusign.com/platform/resource-limits"},
	{Value: "BURST_APIINVOCATION_LIMIT_EXCEEDED", Means: Throttled, Source: "https://developers.docusign.com/platform/resource-limits"},
	{Value: "429", Means: Throttled},

	{Value: "*rate_limit", Means: Throttled},
	{Value: "*rate_limit_error", Means: Throttled},
	{Value: "*rate_limit_exception", Means: Throttled},
	{Value: "*rate_limit_reached", Means: Throttled},
	{Value: "*rate_limit_exceeded", Means: Throttled},
	{Value: "*rate_limit_exceeded_error", Means: Throttled},
	{Value: "*rate_limit_exceeded_exception", Means: Throttled},
	{Value: "*rate_limited", Means: Throttled},
	{Value: "*rate_limited_error", Means: Throttled},
	{Value: "*too_many_requests", Means: Throttled},
	{Value: "*too_many_requests_error", Means: Throttled},
	{Value: "*too_many_requests_exception", Means: Throttled},
	{Value: "*rate limit", Means: Throttled},
	{Value: "*rate limit reached", Means: Throttled},
	{Value: "*rate limit exceeded", Means: Throttled},
	{Value: "*rate limited", Means: Throttled},
	{Value: "*too many requests", Means: Throttled},
	{Value: "*throttled", Means: Throttled},
	{Value: "*throttled_error", Means: Throttled},
	{Value: "*throttled_exception", Means: Throttled},
	{Value: "*throttling", Means: Throttled},
	{Value: "*throttling_error", Means: Throttled},
	{Value: "*throttling_exception", Means: Throttled},
	{Value: "*overload", Means: Throttled},
	{Value: "*overload_error", Means: Throttled},
	{Value: "*overloaded", Means: Throttled},
	{Value: "*overloaded_error", Means: Throttled},
	{Value: "*overloaded_exception", Means: Throttled},

	// What a status would express, if there were one.
	{Value: "quota_exceeded", Status: http.StatusOK, Means: Throttled},
	{Value: "quota_exceeded_error", Status: http.StatusOK, Means: Throttled},
	{Value: "throttling.?*", Status: http.StatusOK, Means: Throttled, Source: "https://help.aliyun.com/en/open-search/search-platform/developer-reference/status-code-description"},
	{Value: "some resource has been exhausted", Status: http.StatusOK, Means: Throttled, Source: "https://docs.x.ai/docs/guides/errors"},
	{Value: "-32005", Status: http.StatusOK, Means: Transient, Source: "https://docs.metamask.io/services/how-to/avoid-rate-limiting/"}, // a limit, or a node that lags behind

	// Codes of a stream that refuse the request.
	{Value: "-32700", Status: http.StatusOK, Means: refused, Source: sourceJSONRPC},
	{Value: "-32600", Status: http.StatusOK, Means: refused, Source: sourceJSONRPC},
	{Value: "-32601", Status: http.StatusOK, Means: refused, Source: sourceJSONRPC},
	{Value: "-32602", Status: http.StatusOK, Means: refused, Source: sourceJSONRPC},
	{Value: "invalid_?*", Status: http.StatusOK, Means: refused},
	{Value: "bad_request", Status: http.StatusOK, Means: refused},
	{Value: "bad_request_error", Status: http.StatusOK, Means: refused},
	{Value: "authentication_error", Status: http.StatusOK, Means: refused},
	{Value: "unauthenticated", Status: http.StatusOK, Means: refused},
	{Value: "permission_error", Status: http.StatusOK, Means: refused},
	{Value: "permission_denied", Status: http.StatusOK, Means: refused},
	{Value: "*not_found", Status: http.StatusOK, Means: refused},
	{Value: "*not_found_error", Status: http.StatusOK, Means: refused},
	{Value: "context_length_exceeded", Status: http.StatusOK, Means: refused, Source: sourceOpenAI},
	{Value: "content_filter*", Status: http.StatusOK, Means: refused},
	{Value: "content_policy*", Status: http.StatusOK, Means: refused},
	{Value: "bio_policy", Status: http.StatusOK, Means: refused, Source: sourceOpenAI},
	{Value: "cyber_policy", Status: http.StatusOK, Means: refused, Source: sourceOpenAI},
	{Value: "unsupported_?*", Status: http.StatusOK, Means: refused},
	{Value: "failed_precondition", Status: http.StatusOK, Means: refused},
	{Value: "out_of_range", Status: http.StatusOK, Means: refused},
	{Value: "unimplemented", Status: http.StatusOK, Means: refused},
	{Value: "validation", Status: http.StatusOK, Means: refused, Source: "https://huggingface.github.io/text-generation-inference/"},
	{Value: "validation_exception", Status: http.StatusOK, Means: refused},
	{Value: "string_above_max_length", Status: http.StatusOK, Means: refused, Source: sourceOpenAI},
	{Value: "?*_too_large", Status: http.StatusOK, Means: refused},
	{Value: "?*_too_long", Status: http.StatusOK, Means: refused},
}
