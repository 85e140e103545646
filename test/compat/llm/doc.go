// Package llm contains the code that docs/llm.md explains. Its tests run that code with the
// SDKs of OpenAI, Anthropic and Google, and with net/http, against a scripted server.
package llm
