package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// partly has the responses of batch APIs of AWS that list what was not accepted, and the fields
// that say so. A response also shows it by the number of what was accepted.
var partly = map[string]string{
	"sqs.SendMessageBatchOutput":             "Failed",
	"sqs.DeleteMessageBatchOutput":           "Failed",
	"sqs.ChangeMessageVisibilityBatchOutput": "Failed",
	"sns.PublishBatchOutput":                 "Failed",
	"kinesis.PutRecordsOutput":               "FailedRecordCount",
	"firehose.PutRecordBatchOutput":          "FailedPutCount",
	"dynamodb.BatchWriteItemOutput":          "UnprocessedItems",
	"eventbridge.PutEventsOutput":            "FailedEntryCount",
	"s3.DeleteObjectsOutput":                 "Errors",
}

var (
	ofAWS = regexp.MustCompile(`^github\.com/aws/aws-sdk-go(-v2)?/service/(\w+\.\w+)$`)
	// saysNothing has fields of such a response that are there whatever was accepted.
	saysNothing = names(`ResultMetadata`, `ConsumedCapacity`, `ItemCollectionMetrics`, `EncryptionType`, `Encrypted`, `RequestCharged`)
)

// reportRefused reports responses of batch APIs that nothing looks at.
func (p *pass) reportRefused() {
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		p.reportPartly(c)
	}
}

// reportPartly reports a call of a batch API whose response nothing looks at.
func (p *pass) reportPartly(c inspector.Cursor) {
	t := p.info.TypeOf(c.Node().(ast.Expr))
	tuple, ok := t.(*types.Tuple)
	if !ok || tuple.Len() != 2 {
		return
	}
	what, looks := "", p.looksInto
	name := typeName(tuple.At(0).Type())
	if match := ofAWS.FindStringSubmatch(name); match != nil {
		what = partly[match[2]]
	}
	if name == elastic+".Response" && p.isBulk(c.Node().(*ast.CallExpr)) {
		what, name, looks = "its body", "Bulk", p.looksIntoBody
	}
	if what == "" {
		return
	}
	api := strings.TrimSuffix(shortName(name), "Output")
	switch n := c.Parent().Node().(type) {
	case *ast.ExprStmt:
		p.report(c, "the response of %s lists in %s what was not accepted: nothing looks at it", api, what)
	case *ast.AssignStmt:
		id, isName := n.Lhs[0].(*ast.Ident)
		if len(n.Rhs) != 1 || !isName {
			return
		}
		v := p.info.ObjectOf(id)
		if v == nil || !slices.ContainsFunc(p.vars[v].uses, looks) {
			p.report(c, "the response of %s lists in %s what was not accepted: nothing looks at it", api, what)
		}
	}
}

// looksInto reports whether a use of a response may tell what was not accepted.
func (p *pass) looksInto(use inspector.Cursor) bool {
	name, _ := field(use)
	if name == "" {
		assign, ok := use.Parent().Node().(*ast.AssignStmt)
		blank := ok && len(assign.Lhs) == 1 && types.ExprString(assign.Lhs[0]) == "_"
		return !compares(use.Parent()) && !blank
	}
	return !saysNothing.MatchString(name)
}

const elastic = "github.com/elastic/go-elasticsearch/esapi"

// isBulk reports whether a call is one of the bulk API of Elasticsearch.
func (p *pass) isBulk(call *ast.CallExpr) bool {
	return p.callee(call) == elastic+".BulkRequest.Do" || typeName(p.info.TypeOf(call.Fun)) == elastic+".Bulk"
}

// looksIntoBody reports whether a use of a response may read its body.
func (p *pass) looksIntoBody(use inspector.Cursor) bool {
	name, parent := field(use)
	sel, isMethod := parent.Node().(*ast.SelectorExpr)
	closes := isMethod && sel.Sel.Name == "Close"
	return name == "" && p.looksInto(use) || name == "Body" && !closes
}
