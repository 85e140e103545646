package main

import "encoding/json"

// This file defines the types of the protocol with the drivers. PROTOCOL.md describes
// the fields.

type input struct {
	Endpoint string     `json:"endpoint"`
	Mode     string     `json:"mode"`
	Cases    []testCase `json:"cases"`
}

type testCase struct {
	Name        string    `json:"name,omitempty"` // in sets, part of the case's id
	Service     string    `json:"service"`
	Operation   string    `json:"operation"`
	TLS         bool      `json:"tls,omitempty"`
	Endpoint    string    `json:"endpoint,omitempty"` // not in sets
	MaxAttempts int       `json:"max_attempts,omitempty"`
	Random      []float64 `json:"random,omitempty"`
	RandomThen  float64   `json:"random_then"`
	Quota       *int      `json:"quota,omitempty"`
	Calls       []call    `json:"calls"`
	Setting     string    `json:"setting,omitempty"` // not in sets
}

type call struct {
	Responses []response `json:"responses"`
}

type response struct {
	Status  int               `json:"status,omitempty"`
	Code    string            `json:"code,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Fault   string            `json:"fault,omitempty"`
}

type output struct {
	SDK     string      `json:"sdk"`
	Modules []string    `json:"modules"`
	Unit    string      `json:"unit"`
	Cases   []caseCalls `json:"cases"`
}

type caseCalls struct {
	Name  string        `json:"name"`
	Calls []observation `json:"calls"`
}

type observation struct {
	Attempts int           `json:"attempts"`
	Delays   []json.Number `json:"delays"`
	OK       bool          `json:"ok"`
	Error    string        `json:"error"`
	Quota    *float64      `json:"quota"`
}
