package main

// This file defines the formats of the services' responses.

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
)

type wireFormat struct {
	contentType string
	failure     string // format string for a code and a message
	success     string
}

var (
	awsQuery = &wireFormat{
		contentType: "text/xml",
		failure: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>` +
			`<Code>%s</Code><Message>%s</Message></Error><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ErrorResponse>`,
		success: callerIdentity,
	}
	awsJSON = &wireFormat{
		contentType: "application/x-amz-json-1.0",
		failure:     `{"__type":"com.amazonaws.service#%s","message":"%s"}`,
		success:     `{"TableNames":[]}`,
	}
	restXML = &wireFormat{
		contentType: "application/xml",
		failure: `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
			`<Error><Code>%s</Code><Message>%s</Message><RequestId>0</RequestId></Error>`,
		success: "an object",
	}
)

const callerIdentity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
	`<Arn>arn:aws:iam::123456789012:user/user</Arn><UserId>AIDAUSER</UserId><Account>123456789012</Account></GetCallerIdentityResult>` +
	`<ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata></GetCallerIdentityResponse>`

// wireFormatOf returns the format of the response to r, or nil if the format is unknown.
func wireFormatOf(r *http.Request, body []byte) *wireFormat {
	switch {
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-amz-json-"):
		return awsJSON
	case r.Method == http.MethodPost && bytes.Contains(body, []byte("Action=GetCallerIdentity")):
		return awsQuery
	case r.Method == http.MethodGet: // of S3; its clients for Java set a Content-Type
		return restXML
	}
	return nil
}

func (p *wireFormat) write(w http.ResponseWriter, r response, number int) {
	var body string
	switch {
	case r.Status < 300:
		body = p.success
	case r.Code != "":
		body = fmt.Sprintf(p.failure, r.Code, message(number))
	}
	w.Header().Set("Content-Type", p.contentType)
	for name, value := range r.Headers {
		w.Header()[http.CanonicalHeaderKey(name)] = []string{value}
	}
	w.WriteHeader(r.Status)
	io.WriteString(w, body)
}

func message(number int) string { return fmt.Sprintf("scripted response %d", number) }

// read returns "" for a missing code or message.
func (p *wireFormat) read(body []byte) (code, message string) {
	switch p {
	case awsJSON:
		var e struct {
			Type    string `json:"__type"`
			Message string
		}
		json.Unmarshal(body, &e)
		_, code, _ := strings.Cut(e.Type, "#")
		return code, e.Message
	case awsQuery:
		var e struct {
			Code    string `xml:"Error>Code"`
			Message string `xml:"Error>Message"`
		}
		xml.Unmarshal(body, &e)
		return e.Code, e.Message
	}
	var e struct{ Code, Message string }
	xml.Unmarshal(body, &e)
	return e.Code, e.Message
}
