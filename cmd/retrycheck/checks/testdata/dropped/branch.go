package dropped

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/gobackoff/retry"
)

func inverted(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	if err == nil {
		return fmt.Errorf("op: %w", err) // want `err is nil here: this branch is for a success, so write != instead of ==`
	}
	return nil
}

func answersTwice(w http.ResponseWriter, r *http.Request) {
	var p retry.Policy
	text, err := retry.DoValue(r.Context(), p, func(context.Context) (string, error) { return r.PathValue("name"), r.ParseForm() })
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway) // want `the handler goes on after this answer, as after a success: return`
	}
	_, _ = io.WriteString(w, text)
}

func answersOnce(w http.ResponseWriter, r *http.Request) {
	var p retry.Policy
	err := retry.Do(r.Context(), p, marks)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	} else {
		w.WriteHeader(http.StatusNoContent)
	}
	err = retry.Do(r.Context(), p, marks)
	if err == nil {
		log.Print("done")
		return
	}
	err = retry.Do(r.Context(), p, marks)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func goesOn(ctx context.Context, p retry.Policy, find func(context.Context) (*user, error)) string {
	u, err := retry.DoValue(ctx, p, find)
	if err != nil {
		log.Print(err)
	}
	return u.name // want `u may be nil here, because the branch for the failure of retry.DoValue goes on`
}

func goesOnWithDefault(ctx context.Context, p retry.Policy, find func(context.Context) (*user, error)) string {
	u, err := retry.DoValue(ctx, p, find)
	if err != nil {
		u = &user{name: "nobody"}
	}
	return u.name
}

func none(ctx context.Context, p retry.Policy, find func(context.Context) (*user, error)) (string, error) {
	u, err := retry.DoValue(ctx, p, func(ctx context.Context) (*user, error) {
		u, err := find(ctx)
		if err == errGone {
			return nil, nil
		}
		return u, err
	})
	if err != nil {
		return "", err
	}
	return u.name, nil // want `the operation may return nil without an error, so u may be nil here`
}

func noneChecked(ctx context.Context, p retry.Policy, find func(context.Context) (*user, error)) (string, error) {
	u, err := retry.DoValue(ctx, p, func(ctx context.Context) (*user, error) {
		u, err := find(ctx)
		if err == errGone {
			return nil, nil
		}
		return u, err
	})
	if err != nil || u == nil {
		return "", err
	}
	return u.name, nil
}
