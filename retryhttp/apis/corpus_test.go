package apis_test

import "time"

// corpus lists responses that APIs document or that were reported to their trackers. The
// Date of each is 2026-11-02 12:00:00 GMT, so times and epochs are moved to that day.
var corpus = []sample{
	{"OpenAI, requests", 429, []string{"X-RateLimit-Remaining-Requests: 0", "X-RateLimit-Reset-Requests: 1s", "X-RateLimit-Remaining-Tokens: 149984", "X-RateLimit-Reset-Tokens: 6m0s"}, "", throttled, time.Second, openAILimits},
	{"OpenAI, tokens", 429, []string{"X-RateLimit-Remaining-Requests: 59", "X-RateLimit-Reset-Requests: 1s", "X-RateLimit-Remaining-Tokens: 0", "X-RateLimit-Reset-Tokens: 6m0s"}, "", throttled, 6 * time.Minute, openAILimits},
	{"OpenAI, wait in the message", 429, nil, `{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28500, Requested 4650. Please try again in 6.3s. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, throttled, 6300 * time.Millisecond, openAIErrors},
	{"OpenAI, requests per day", 429, nil, `{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, throttled, 432 * time.Second, openAIErrors},
	{"OpenAI, quota", 429, nil, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, permanent, 0, openAIErrors},
	{"OpenAI, billing limit", 400, nil, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, permanent, 0, openAIErrors},
	{"OpenAI, slow down", 503, nil, `{"error":{"message":"Slow down","type":"server_error","param":null,"code":"slow_down"}}`, throttled, 0, openAIErrors},
	{"OpenAI, overloaded", 503, []string{"Retry-After: 2"}, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}`, transient, 2 * time.Second, openAIErrors},
	{"OpenAI, no retry wanted", 503, []string{"X-Should-Retry: false", "Retry-After: 1"}, "", permanent, time.Second, "[openai-go, internal/requestconfig](https://github.com/openai/openai-go)"},
	{"OpenAI, stream", 200, nil, "data: {\"error\":{\"message\":\"The server had an error processing your request.\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n", transient, 0, openAIErrors},
	{"OpenAI, stream that begins", 200, nil, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"an error\"}}]}\n\n", unknown, 0, "[streaming](https://platform.openai.com/docs/guides/streaming-responses)"},
	{"Azure OpenAI, tokens", 429, []string{"X-Rate-Limit-Reset-Tokens: 55", "X-RateLimit-Remaining-Requests: 59"}, "", throttled, 55 * time.Second, "[openai-python issue 937](https://github.com/openai/openai-python/issues/937)"},
	{"Azure OpenAI, message", 429, nil, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 24 seconds."}}`, throttled, 24 * time.Second, azureQuota},
	{"Azure OpenAI, milliseconds", 429, []string{"Retry-After-Ms: 1500", "Retry-After: 2"}, "", throttled, 1500 * time.Millisecond, azureQuota},
	{"Anthropic, limits", 429, []string{"Anthropic-RateLimit-Requests-Remaining: 0", "Anthropic-RateLimit-Requests-Reset: 2026-11-02T12:00:20Z", "Anthropic-RateLimit-Tokens-Remaining: 8000", "Anthropic-RateLimit-Tokens-Reset: 2026-11-02T12:00:40Z"}, "", throttled, 20 * time.Second, anthropicLimits},
	{"Anthropic, input tokens", 429, []string{"Retry-After: 12", "Anthropic-RateLimit-Input-Tokens-Remaining: 0", "Anthropic-RateLimit-Input-Tokens-Reset: 2026-11-02T12:00:30Z"}, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute."}}`, throttled, 12 * time.Second, anthropicLimits},
	{"Anthropic, overloaded", 529, []string{"X-Should-Retry: true"}, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011"}`, throttled, 0, anthropicErrors},
	{"Anthropic, internal", 500, nil, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, transient, 0, anthropicErrors},
	{"Anthropic, stream after a ping", 200, nil, "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: error\ndata: {\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"Overloaded\"}}\n\n", throttled, 0, anthropicStream},
	{"Anthropic, stream that begins", 200, nil, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", unknown, 0, anthropicStream},
	{"Anthropic, spend limit", 429, nil, `{"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits: your organization has crossed its monthly API usage threshold, set based on your organization's API tier. You will regain access on 2026-12-01 at 00:00 UTC.","details":{"error_code":"enforced_spend_limit_reached"}}}`, permanent, 0, anthropicLimits},
	{"Gemini, per minute", 429, nil, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"15"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"58s"}]}}`, throttled, 58 * time.Second, geminiLimits},
	{"Gemini, per day", 429, nil, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36s"}]}}`, permanent, 36 * time.Second, "[OmniRoute issue 9504](https://github.com/diegosouzapw/OmniRoute/issues/9504)"},
	{"Gemini, overloaded", 503, nil, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, transient, 0, "[troubleshooting](https://ai.google.dev/gemini-api/docs/troubleshooting)"},
	{"Gemini, stream as a list", 429, nil, `[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`, throttled, 0, "[gemini-cli issue 19976](https://github.com/google-gemini/gemini-cli/issues/19976)"},
	{"Vertex AI", 429, nil, `{"error":{"code":429,"message":"Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.","status":"RESOURCE_EXHAUSTED","errors":[{"domain":"global","reason":"rateLimitExceeded"}]}}`, throttled, 0, "[error code 429](https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429)"},
	{"Google Cloud Code, per day", 429, nil, `{"error":{"code":429,"message":"Quota exceeded for quota metric 'Gemini 2.5 Pro Requests'.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_limit":"Gemini25ProRequestsPerDay"}}]}}`, permanent, 0, "[gemini-cli issue 10925](https://github.com/google-gemini/gemini-cli/issues/10925)"},
	{"Google, user rate", 403, nil, `{"error":{"code":403,"message":"User Rate Limit Exceeded","errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded","message":"User Rate Limit Exceeded"}]}}`, throttled, 0, googleErrors},
	{"Google, daily limit", 403, nil, `{"error":{"code":403,"message":"Daily Limit Exceeded","errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded","message":"Daily Limit Exceeded"}]}}`, permanent, 0, googleErrors},
	{"Google, no permission", 403, nil, `{"error":{"code":403,"message":"The user does not have sufficient permissions for this file.","errors":[{"domain":"global","reason":"insufficientFilePermissions"}]}}`, permanent, 0, googleErrors},
	{"Bedrock, throttling", 429, []string{"X-Amzn-Errortype: ThrottlingException"}, `{"message":"Too many requests, please wait before trying again."}`, throttled, 0, bedrock},
	{"Bedrock, tokens of a day", 429, []string{"X-Amzn-Errortype: ThrottlingException"}, `{"message":"Too many tokens per day, please wait before trying again."}`, permanent, 0, "[re:Post](https://repost.aws/knowledge-center/bedrock-throttling-error)"},
	{"Bedrock, not ready", 429, []string{"X-Amzn-Errortype: ModelNotReadyException"}, `{"message":"The model is not ready for inference. Wait and try your request again."}`, throttled, 0, bedrock},
	{"Bedrock, unavailable", 503, []string{"X-Amzn-Errortype: ServiceUnavailableException"}, `{"message":"The service isn't currently available. Try again later."}`, transient, 0, bedrock},
	{"AWS JSON", 400, nil, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate exceeded"}`, throttled, 0, "[DynamoDB errors](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html)"},
	{"AWS JSON, quota", 400, nil, `{"__type":"ServiceQuotaExceededException","message":"Your request exceeds the service quota for your account."}`, permanent, 0, bedrock},
	{"OpenRouter, per minute", 429, []string{"X-RateLimit-Limit: 16", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620845000"}, `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429}}`, throttled, 45 * time.Second, openRouter},
	{"OpenRouter, per day", 429, []string{"X-RateLimit-Limit: 50", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793664000000"}, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429}}`, throttled, 12 * time.Hour, openRouter},
	{"OpenRouter, upstream", 429, nil, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"temporarily rate-limited upstream. Please retry shortly","provider_name":"Venice","retry_after_seconds":17,"headers":{"Retry-After":"17"}}}}`, throttled, 17 * time.Second, openRouter},
	{"OpenRouter, no credits", 402, nil, `{"error":{"code":402,"message":"Insufficient credits"}}`, permanent, 0, openRouter},
	{"OpenRouter, requests in flight", 402, []string{"Retry-After: 12"}, `{"error":{"message":"This request would exceed your available credits given your current in-flight requests. Retry after in-flight requests settle, or add credits.","code":402,"metadata":{"reason":"in_flight_budget_exhausted","limit_source":"openrouter_in_flight_budget"}}}`, throttled, 12 * time.Second, openRouter},
	{"OpenRouter, stream", 200, nil, ": OPENROUTER PROCESSING\n\ndata: {\"id\":\"gen-1\",\"error\":{\"code\":\"server_error\",\"message\":\"Provider disconnected\"},\"choices\":[{\"index\":0,\"finish_reason\":\"error\"}]}\n\n", transient, 0, openRouter},
	{"Mistral", 429, []string{"RateLimitBySize-Limit: 500000", "RateLimitBySize-Remaining: 0", "RateLimitBySize-Reset: 32"}, `{"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300","raw_status_code":429}`, throttled, 32 * time.Second, "[pi issue 9815](https://github.com/earendil-works/pi/issues/9815)"},
	{"Cohere, trial key", 429, nil, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for free or upgrade to a Production key."}`, permanent, 0, cohere},
	{"Cohere, per minute", 429, nil, `{"message":"You are using a Trial key, which is limited to 20 API calls / minute."}`, throttled, 0, cohere},
	{"GitHub, primary limit", 403, []string{"X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620845"}, "", throttled, 45 * time.Second, gitHub},
	{"GitHub, secondary limit", 403, []string{"Retry-After: 60", "X-RateLimit-Remaining: 4999"}, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}`, throttled, time.Minute, gitHub},
	{"GitHub, no permission", 403, []string{"X-RateLimit-Remaining: 4999", "X-RateLimit-Reset: 1793620845"}, `{"message":"Resource not accessible by integration"}`, permanent, 0, gitHub},
	{"GitHub, GraphQL", 200, nil, `{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for user ID 1."}]}`, throttled, 0, "[githubkit issue 271](https://github.com/yanyongyu/githubkit/issues/271)"},
	{"GitLab", 429, []string{"RateLimit-Limit: 60", "RateLimit-Remaining: 0", "RateLimit-Reset: 1793620830", "Retry-After: 30"}, "", throttled, 30 * time.Second, gitLab},
	{"GitLab, without Retry-After", 429, []string{"RateLimit-Limit: 60", "RateLimit-Remaining: 0", "RateLimit-Reset: 1793620830"}, "", throttled, 30 * time.Second, gitLab},
	{"Stripe, retry", 402, []string{"Stripe-Should-Retry: true"}, "", transient, 0, "[errors, of the header alone](https://docs.stripe.com/error-low-level)"},
	{"Stripe, no retry", 429, []string{"Stripe-Should-Retry: false"}, "", permanent, 0, "[errors, of the header alone](https://docs.stripe.com/error-low-level)"},
	{"Stripe, a lock", 429, nil, `{"error":{"code":"lock_timeout","message":"This object cannot be accessed right now because another API request or Stripe process is currently accessing it.","type":"invalid_request_error"}}`, throttled, 0, "[rate limits](https://docs.stripe.com/rate-limits)"},
	{"Stripe, same key", 409, []string{"Stripe-Version: 2026-10-29.dahlia"}, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use","message":"There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): key_1. Please try again later."}}`, transient, 0, stripe},
	{"Slack", 429, []string{"Retry-After: 30"}, `{"ok":false,"error":"ratelimited"}`, throttled, 30 * time.Second, slack},
	{"Slack, status 200", 200, nil, `{"ok":false,"error":"ratelimited"}`, throttled, 0, slack},
	{"Slack, another error", 200, nil, `{"ok":false,"error":"channel_not_found"}`, unknown, 0, slack},
	{"Discord", 429, []string{"Retry-After: 65", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620864.57", "X-RateLimit-Reset-After: 64.57"}, `{"message":"You are being rate limited.","retry_after":64.57,"global":false}`, throttled, 65 * time.Second, discord},
	{"Discord, another route", 429, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1793620899", "X-RateLimit-Reset-After: 64.57"}, "", throttled, 64570 * time.Millisecond, discord},
	{"Discord, body alone", 429, nil, `{"message":"You are being rate limited.","retry_after":1.337,"global":true}`, throttled, 1337 * time.Millisecond, discord},
	{"Shopify, REST", 429, []string{"Retry-After: 2.0", "X-Shopify-Shop-Api-Call-Limit: 40/40"}, `{"errors":"Exceeded 2 calls per second for api client. Reduce request rates to resume uninterrupted service."}`, throttled, 2 * time.Second, shopify},
	{"Shopify, security", 430, nil, "", throttled, 0, "[status codes](https://shopify.dev/docs/api/usage/response-codes)"},
	{"Shopify, GraphQL", 200, nil, `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED","documentation":"https://shopify.dev/api/usage/rate-limits"}}],"extensions":{"cost":{"requestedQueryCost":752,"actualQueryCost":null,"throttleStatus":{"maximumAvailable":1000.0,"currentlyAvailable":502,"restoreRate":50.0}}}}`, throttled, 5 * time.Second, shopify},
	{"Twilio", 429, nil, `{"code":20429,"message":"Too Many Requests","more_info":"https://www.twilio.com/docs/errors/20429","status":429}`, throttled, 0, "[error 20429](https://www.twilio.com/docs/api/errors/20429)"},
	{"Cloudflare API", 429, []string{`RateLimit: "default";r=0;t=30`, `RateLimit-Policy: "default";q=1200;w=300`, "Retry-After: 30"}, "", throttled, 30 * time.Second, "[API limits](https://developers.cloudflare.com/fundamentals/api/reference/limits/)"},
	{"Atlassian", 429, []string{"Retry-After: 20", "X-RateLimit-Limit: 40", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-02T12:00Z"}, "", throttled, 20 * time.Second, atlassian},
	{"Atlassian, reset alone", 429, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-02T12:01Z"}, "", throttled, time.Minute, atlassian},
	{"Notion", 429, []string{"Retry-After: 10"}, `{"object":"error","status":429,"code":"rate_limited","message":"You have been rate limited. Please try again in a few minutes."}`, throttled, 10 * time.Second, notion},
	{"Notion, overloaded", 529, nil, `{"object":"error","status":529,"code":"service_overload","message":"Notion is temporarily overloaded. Respect the Retry-After response header and try again later."}`, throttled, 0, notion},
	{"Azure Cosmos DB", 429, []string{"X-Ms-Retry-After-Ms: 1234"}, "", throttled, 1234 * time.Millisecond, "[request rate too large](https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-request-rate-too-large)"},
	{"X", 429, []string{"X-Rate-Limit-Limit: 900", "X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 1793621700"}, "", throttled, 15 * time.Minute, "[rate limits](https://docs.x.com/x-api/fundamentals/rate-limits)"},
	{"Groq", 429, []string{"Retry-After: 2", "X-RateLimit-Remaining-Tokens: 0", "X-RateLimit-Reset-Tokens: 7.66s"}, "", throttled, 2 * time.Second, "[rate limits](https://console.groq.com/docs/rate-limits)"},
}

const (
	openAILimits    = "[rate limits](https://platform.openai.com/docs/guides/rate-limits)"
	openAIErrors    = "[error codes](https://platform.openai.com/docs/guides/error-codes)"
	azureQuota      = "[quota](https://learn.microsoft.com/azure/ai-services/openai/how-to/quota)"
	anthropicLimits = "[rate limits](https://platform.claude.com/docs/en/api/rate-limits)"
	anthropicErrors = "[errors](https://platform.claude.com/docs/en/api/errors)"
	anthropicStream = "[streaming](https://platform.claude.com/docs/en/build-with-claude/streaming)"
	geminiLimits    = "[rate limits](https://ai.google.dev/gemini-api/docs/rate-limits)"
	googleErrors    = "[Drive, errors](https://developers.google.com/workspace/drive/api/guides/handle-errors)"
	bedrock         = "[InvokeModel](https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html)"
	openRouter      = "[errors](https://openrouter.ai/docs/api/reference/errors-and-debugging)"
	cohere          = "[errors](https://docs.cohere.com/reference/errors)"
	gitHub          = "[rate limits](https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api)"
	gitLab          = "[rate limits](https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/)"
	stripe          = "[errors](https://docs.stripe.com/error-low-level)"
	slack           = "[rate limits](https://docs.slack.dev/apis/web-api/rate-limits)"
	discord         = "[rate limits](https://docs.discord.com/developers/topics/rate-limits)"
	shopify         = "[limits](https://shopify.dev/docs/api/usage/limits)"
	atlassian       = "[rate limiting](https://developer.atlassian.com/cloud/jira/platform/rate-limiting/)"
	notion          = "[status codes](https://developers.notion.com/reference/status-codes)"
)
