package missing

import (
	"context"
	"errors"

	"github.com/gobackoff/retry/admit"
)

type printer struct {
	gate   admit.Gate
	render func(context.Context, string) (string, error)
	open   map[string]admit.Ticket
}

var errEmpty = errors.New("nothing to print")

func (p *printer) early(ctx context.Context, text string) (string, error) {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", errEmpty // want `this ends the request without Leave, so it counts as in progress forever: defer Leave right after Enter`
	}
	defer p.gate.Leave(ticket)
	return p.render(ctx, text)
}

func (p *printer) onError(ctx context.Context, text string) (string, error) {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return "", err
	}
	printed, err := p.render(ctx, text)
	if err != nil {
		return "", err // want `this ends the request without Leave`
	}
	p.gate.Leave(ticket)
	return printed, nil
}

func (p *printer) all(ctx context.Context, texts []string) {
	for _, text := range texts {
		ticket, err := p.gate.Enter(admit.Caller{})
		if err != nil {
			continue
		}
		if text == "" {
			continue // want `this ends the request without Leave`
		}
		_, _ = p.render(ctx, text)
		p.gate.Leave(ticket)
	}
}

func (p *printer) right(ctx context.Context, text string) (string, error) {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return "", err
	}
	defer p.gate.Leave(ticket)
	if text == "" {
		return "", errEmpty
	}
	return p.render(ctx, text)
}

func (p *printer) byHand(ctx context.Context, text string) (string, error) {
	ticket, refused := p.gate.Enter(admit.Caller{})
	switch {
	case refused != nil:
		return "", refused
	case text == "":
		p.gate.Leave(ticket)
		return "", errEmpty
	}
	printed, err := p.render(ctx, text)
	if err != nil {
		p.gate.Leave(ticket)
		return "", err
	}
	p.gate.Leave(ticket)
	return printed, nil
}

func (p *printer) inFunction(ctx context.Context, text string) (printed string, err error) {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return "", err
	}
	defer func() {
		p.gate.Leave(ticket)
	}()
	if text == "" {
		return "", errEmpty
	}
	return p.render(ctx, text)
}

func (p *printer) inBackground(ctx context.Context, text string) error {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return err
	}
	go func() {
		defer p.gate.Leave(ticket)
		_, _ = p.render(ctx, text)
	}()
	return nil
}

func (p *printer) kept(id string) error {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return err
	}
	p.open[id] = ticket
	return nil
}

func (p *printer) enter() (admit.Ticket, error) {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return ticket, err
	}
	return ticket, nil
}

func (p *printer) either(ctx context.Context, text string) error {
	ticket, err := p.gate.Enter(admit.Caller{})
	if err != nil {
		return err
	}
	_, err = p.render(ctx, text)
	if err != nil {
		p.gate.Leave(ticket)
	} else {
		p.gate.Leave(ticket)
	}
	return err
}
