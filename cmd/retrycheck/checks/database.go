package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// What executes a statement: outside of a transaction, in one, and prepared.
var (
	onPool = names(`database/sql\.(DB|Conn)\.(Exec|Query|QueryRow)(Context)?`, `github\.com/jackc/pgx/pgxpool\.(Pool|Conn)\.(Exec|Query|QueryRow)`,
		`github\.com/jackc/pgx\.Conn\.(Exec|Query|QueryRow)`, `github\.com/jmoiron/sqlx\.(DB|Conn)\.(Named|Must)?(Exec|Query|QueryRow|Get|Select)x?(Context)?`)
	onTx = names(`database/sql\.Tx\.(Exec|Query|QueryRow)(Context)?`, `github\.com/jackc/pgx\.Tx\.(Exec|Query|QueryRow)`,
		`github\.com/jmoiron/sqlx\.Tx\.(Named|Must)?(Exec|Query|QueryRow|Get|Select)x?(Context)?`)
	prepared = names(`database/sql\.Stmt\.(Exec|Query|QueryRow)(Context)?`)
	prepares = names(`database/sql\.(DB|Conn)\.Prepare(Context)?`)
	commits  = names(`database/sql\.Tx\.Commit`, `github\.com/jackc/pgx\.(Tx\.Commit|BeginFunc|BeginTxFunc)`)
	// adding has commands of other stores that add to what is there.
	adding = names(`github\.com/(redis/go-redis|go-redis/redis)\.\w+\.(Incr|IncrBy|IncrByFloat|Decr|DecrBy|HIncrBy|HIncrByFloat|ZIncrBy|LPush|RPush|XAdd)`)
	mongo  = names(`go\.mongodb\.org/mongo-driver/mongo\.Collection\.(UpdateOne|UpdateMany|UpdateByID|FindOneAndUpdate)`)
)

// reportStatements reports statements of an operation that change something again if their answer
// is lost: outside of retrysql, nobody knows whether they were executed.
func (p *pass) reportStatements(loop *call) {
	if inTx.MatchString(loop.name) || p.names(loop.policy, "Classifier") || p.makesOneAttempt(loop.policy) {
		return
	}
	calls := p.reached(loop.op, p.fails)
	repeats := slices.ContainsFunc(calls, func(c *call) bool { return keyed.MatchString(p.statement(c)) })
	if repeats {
		return // which looks whether the work was done
	}
	for _, c := range calls {
		fn := p.functionAround(c.Cursor)
		switch {
		case onPool.MatchString(c.name) || prepared.MatchString(c.name) && p.preparedOutside(c):
			if change := p.changeOf(c); change != "" && p.failsWith(fn, c) {
				p.report(c.Cursor, "%s again if its answer is lost: run it in retrysql.InTx, or mark its error with retry.Unrepeatable", change)
			}
		case commits.MatchString(c.name) && p.fails(fn, c):
			if slices.ContainsFunc(calls, func(s *call) bool { return onTx.MatchString(s.name) && p.changeOf(s) != "" }) {
				p.report(c.Cursor, "a COMMIT whose answer is lost is executed again: use retrysql.InTx, or mark its error with retry.Unrepeatable")
			}
		case (adding.MatchString(c.name) || mongo.MatchString(c.name) && p.addsFields(c)) && p.fails(fn, c):
			p.report(c.Cursor, "%s adds again if its answer is lost: set a value instead, or mark its error with retry.Unrepeatable", shortName(c.name))
		}
	}
}

// keyed matches statements that look for a mark of what was done.
var keyed = regexp.MustCompile(`(?i)idempot|dedup|processed|request_?id`)

// failsWith reports whether a failure of a statement leads to a retry: that of the call, or that
// of Scan for a row.
func (p *pass) failsWith(fn inspector.Cursor, c *call) bool {
	return p.fails(fn, c) || p.mayFail(fn, c.Cursor) && !p.mayReturnError(p.chain(c.Cursor))
}

// statement returns the text of the statement that a call executes, as far as it is constant, or
// the format of it.
func (p *pass) statement(c *call) string {
	from := c
	if prepared.MatchString(c.name) {
		from = p.preparation(c)
		if from == nil {
			return ""
		}
	}
	for i := range min(len(from.Args), 3) {
		if text := p.text(from.ChildAt(edge.CallExpr_Args, i)); text != "" {
			return text
		}
	}
	return ""
}

// text returns a text as far as it is constant, with x for the rest, or nothing if it begins with
// something else.
func (p *pass) text(c inspector.Cursor) string {
	c = p.value(c)
	value := p.info.Types[c.Node().(ast.Expr)].Value
	if value != nil && value.Kind() == constant.String {
		return constant.StringVal(value)
	}
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		if p.callee(n) == "fmt.Sprintf" {
			return p.text(c.ChildAt(edge.CallExpr_Args, 0))
		}
	case *ast.BinaryExpr:
		begin, end := p.text(c.ChildAt(edge.BinaryExpr_X, -1)), p.text(c.ChildAt(edge.BinaryExpr_Y, -1))
		if begin != "" && end == "" {
			end = "x"
		}
		if begin != "" {
			return begin + end
		}
	}
	return ""
}

// changeOf says what the statement of a call does if it is executed twice. If a loop executes one
// statement after another, the first that does anything counts.
func (p *pass) changeOf(c *call) string {
	if text := p.statement(c); text != "" {
		return p.changesAgain(text)
	}
	for i := range min(len(c.Args), 3) {
		id, ok := c.Args[i].(*ast.Ident)
		if !ok {
			continue
		}
		for _, set := range p.vars[p.info.ObjectOf(id)].sets {
			loop, ok := set.Parent().Node().(*ast.RangeStmt)
			if !ok || loop.Value != set.Node() {
				continue
			}
			for _, text := range p.texts(set.Parent().ChildAt(edge.RangeStmt_X, -1)) {
				if change := p.changesAgain(text); change != "" {
					return change
				}
			}
		}
	}
	return ""
}

// preparation returns the call that prepares a statement.
func (p *pass) preparation(c *call) *call {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := p.info.Uses[lastName(sel.X)].(*types.Var)
	if !ok {
		return nil
	}
	for _, value := range p.origins(v, 0) {
		for _, made := range p.calls {
			if made.Cursor == value {
				return made
			}
		}
	}
	return nil
}

// preparedOutside reports whether a statement was prepared outside of a transaction.
func (p *pass) preparedOutside(c *call) bool {
	made := p.preparation(c)
	return made != nil && prepares.MatchString(made.name)
}

var (
	updates  = regexp.MustCompile(`(?is)\bUPDATE\s+(?:.*?\bSET\s+)?(.*)`)
	inserts  = regexp.MustCompile(`(?is)^\s*INSERT\s+INTO\s+\S+?\s*\(([^)]*)\)\s*VALUES\b(.*)$`)
	where    = regexp.MustCompile(`(?is)\b(WHERE|RETURNING)\b`)
	excluded = regexp.MustCompile(`(?i)\bexcluded\s*\.\s*\w+|\bvalues\s*\(\s*\w+\s*\)`)
	operator = regexp.MustCompile(`(?i)[-+*]|\|\||\bnot\s|concat|_append`)
	// oftenCounted has columns that may be counted once more.
	oftenCounted = regexp.MustCompile(`(?i)^(version|revision|rev|lock_?version|attempts?|tries|retries|retry_count|failures|views|hits|seen)$`)
	// generated has values that the database makes for each row.
	generated = regexp.MustCompile(`(?i)gen_random_uuid|uuid_generate|nextval\s*\(|newid\s*\(|\buuid\s*\(|randomblob`)
	// unique has columns that often allow one row with a value.
	unique = regexp.MustCompile(`(?i)(^|_)(id|ids|key|uuid|guid|ulid|name|email|mail|slug|code|token|hash|sha\d*|number|no|url|uri|path|login|user|username|phone|date|day|sku|isbn|domain|host|ip)$`)
	// resolves has clauses for a row that is there already.
	resolves = regexp.MustCompile(`(?i)\bON\s+CONFLICT\b|\bON\s+DUPLICATE\b|\bNOT\s+EXISTS\b`)
)

// changesAgain says what a statement does if it is executed twice, or is empty: it changes a
// column relative to itself, or inserts another row.
func (p *pass) changesAgain(text string) string {
	if set := updates.FindStringSubmatch(text); set != nil {
		if changesItself(set[1]) {
			return "this statement changes a value relative to itself, and does so"
		}
		return ""
	}
	insert := inserts.FindStringSubmatch(text)
	if insert == nil || resolves.MatchString(text) || p.handlesDuplicates() {
		return ""
	}
	columns := strings.Split(insert[1], ",")
	hasKey := slices.ContainsFunc(columns, func(name string) bool { return unique.MatchString(strings.Trim(name, "\"`[] \t\n")) })
	if generated.MatchString(insert[2]) || !hasKey {
		return "this statement inserts a row, and does so"
	}
	return ""
}

// changesItself reports whether one of the assignments of an UPDATE is relative to the column, and
// nothing after WHERE says that the row has not been changed yet.
func changesItself(text string) bool {
	condition := ""
	if at := where.FindStringIndex(text); at != nil {
		text, condition = text[:at[0]], text[at[0]:]
	}
	relative := false
	for _, assignment := range splitOutside(text) {
		column, value, ok := strings.Cut(assignment, "=")
		if !ok {
			continue
		}
		column = strings.Trim(column[strings.LastIndex(column, ".")+1:], "\"`[] \t\n")
		word := `(?i)\b` + regexp.QuoteMeta(column) + `\b`
		own := regexp.MustCompile(word).MatchString(excluded.ReplaceAllString(value, ""))
		if own && operator.MatchString(value) && !oftenCounted.MatchString(column) {
			relative = true
			if regexp.MustCompile(word + `["` + "`" + `\]]?\s*(=|IN\b|IS\b)`).MatchString(condition) {
				return false
			}
		} else if regexp.MustCompile(word).MatchString(condition) {
			return false // it is set, so the condition is no longer true
		}
	}
	return relative && !strings.Contains(strings.ToUpper(condition), "EXISTS")
}

// splitOutside splits a text at the commas that are not in parentheses.
func splitOutside(text string) (parts []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// duplicates has what names the error of a row that is there already.
var duplicates = regexp.MustCompile(`23505|\b1062\b|(?i)duplicate|unique_?(violation|constraint)`)

// handlesDuplicates reports whether the package looks for the error of a row that is there
// already.
func (p *pass) handlesDuplicates() bool {
	for c := range p.root.Preorder((*ast.Ident)(nil), (*ast.BasicLit)(nil)) {
		text := ""
		switch n := c.Node().(type) {
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			text = n.Value
		}
		if duplicates.MatchString(text) && !inserts.MatchString(strings.Trim(text, "\"`")) {
			return true
		}
	}
	return false
}

// addsFields reports whether an update of MongoDB adds to a field or a list that its filter does
// not mention.
func (p *pass) addsFields(c *call) bool {
	if len(c.Args) < 3 {
		return false
	}
	adds := false
	filter := p.texts(c.ChildAt(edge.CallExpr_Args, 1))
	for _, text := range p.texts(c.ChildAt(edge.CallExpr_Args, 2)) {
		if slices.Contains(filter, text) {
			return false
		}
		adds = adds || text == "$inc" || text == "$mul" || text == "$push"
	}
	return adds
}

// texts returns the constant strings in an expression and in the value of a variable that it is.
func (p *pass) texts(c inspector.Cursor) (texts []string) {
	for lit := range p.value(c).Preorder((*ast.BasicLit)(nil)) {
		if value := p.info.Types[lit.Node().(ast.Expr)].Value; value != nil && value.Kind() == constant.String {
			texts = append(texts, constant.StringVal(value))
		}
	}
	return texts
}

// reportEffects reports what a function of retrysql does outside of its transaction and cannot be
// undone: a rollback leaves it, and the next attempt does it again.
func (p *pass) reportEffects(loop *call) {
	calls := p.reached(loop.op, nil)
	hasKey := slices.ContainsFunc(calls, func(c *call) bool { return sets.MatchString(c.name) && p.isKey(c.Args[0]) })
	for _, c := range calls {
		in := p.functionAround(c.Cursor)
		if _, isLit := in.Node().(*ast.FuncLit); isLit && in != loop.op && in.ParentEdgeKind() != edge.CallExpr_Fun {
			continue // for later
		}
		if p.sendsPost(c) && !hasKey || p.isEffect(c) && !p.knowsKey(loop, c) {
			p.report(c.Cursor, "%[1]s does this again if the transaction runs again, and a rollback does not undo it: do it after %[1]s, or store it in the transaction and let another job do it", shortName(loop.name))
		}
	}
}

// sendsPost reports whether a call sends a POST or a PATCH.
func (p *pass) sendsPost(c *call) bool {
	if posts.MatchString(c.name) {
		return !p.asksOnly(c)
	}
	if c.name != "net/http.Client.Do" || len(c.Args) != 1 {
		return false
	}
	request := p.latestValue(p.plain(c.ChildAt(edge.CallExpr_Args, 0)))
	if !request.Valid() {
		return false
	}
	n, ok := request.Node().(*ast.CallExpr)
	if !ok || !makes.MatchString(p.callee(n)) {
		return false
	}
	return p.isPost(n.Args[len(n.Args)-3]) && !p.asksOnly(&call{Cursor: request, CallExpr: n, name: p.callee(n)})
}

// What sends a message, and the name of such a method, whatever it belongs to.
var (
	sendsMail = names(`net/smtp\.SendMail`)
	telling   = names(`(Send|Publish|DialAndSend|PostMessage|Charge|Refund|Notify)([A-Z]\w*)?`, `WriteMessages`)
	outbox    = regexp.MustCompile(`(?i:outbox|transaction|unitofwork|batch)|(^|[a-z.])Tx([A-Z.]|$)|\btx\b`)
)

// isEffect reports whether a call sends something to others: a message, a mail or an order. A
// method of the package is looked into instead.
func (p *pass) isEffect(c *call) bool {
	if sendsMail.MatchString(c.name) || adding.MatchString(c.name) {
		return true
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || !telling.MatchString(sel.Sel.Name) || !p.mayReturnError(p.chain(c.Cursor)) || p.info.Selections[sel] == nil {
		return false
	}
	fun := c.ChildAt(edge.CallExpr_Fun, -1)
	receiver := p.info.TypeOf(sel.X)
	if p.function(fun).Valid() || p.isDatabase(receiver) || outbox.MatchString(lastPart(typeName(receiver))+"."+types.ExprString(sel.X)) {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(arg ast.Expr) bool { return p.isDatabase(p.info.TypeOf(arg)) })
}

// lastPart returns the name of a type without its package.
func lastPart(name string) string { return name[strings.LastIndex(name, ".")+1:] }

// isDatabase reports whether a value executes statements, so that what it does may be a part of
// the transaction.
func (p *pass) isDatabase(t types.Type) bool {
	return t != nil && (transactions.MatchString(typeName(t)) || hasMethod(t, "Exec") || hasMethod(t, "ExecContext") || hasMethod(t, "Commit"))
}

// knowsKey reports whether a call gets a part of the key of retrysql.Once, by which a server may
// recognize the repetition.
func (p *pass) knowsKey(loop, c *call) bool {
	for i, arg := range loop.Args {
		if typeName(p.info.TypeOf(arg)) != ours+"/retrysql.Key" {
			continue
		}
		for _, id := range p.mentions(loop.ChildAt(edge.CallExpr_Args, i)) {
			v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
			if ok && !v.IsField() && slices.ContainsFunc(p.vars[v].uses, c.Contains) {
				return true
			}
		}
	}
	return false
}
