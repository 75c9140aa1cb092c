package exact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	maxBody   = 32 << 20 // what the API takes
	maxAnswer = 1 << 20  // far more than any answer has
	maxWait   = time.Minute
)

// count sends one body, again while the server is busy, and gives its tokens.
func (c *Client) count(ctx context.Context, body []byte) (int, error) {
	for attempt := 1; ; attempt++ {
		n, err := c.post(ctx, body)
		var failed *Error
		if err == nil || !errors.As(err, &failed) || !failed.busy() || attempt >= c.o.Attempts {
			return n, err
		}
		wait := failed.RetryAfter
		if wait == 0 {
			wait = time.Second << min(attempt-1, 5)
		}
		if wait > maxWait {
			return 0, err // the server asks for more patience than a command has
		}
		if err := c.o.Wait(ctx, wait); err != nil {
			return 0, fmt.Errorf("while the server is busy: %w", err)
		}
	}
}

func (c *Client) post(ctx context.Context, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	if c.o.Token != "" {
		req.Header.Set("authorization", "Bearer "+string(c.o.Token))
	} else {
		req.Header.Set("x-api-key", string(c.o.Key))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return 0, c.failure(resp, answer)
	case err != nil:
		return 0, fmt.Errorf("the answer broke off: %w", err)
	case len(answer) > maxAnswer:
		return 0, errors.New("the answer is over 1 MiB; is there a token counter at this address?")
	}
	return read(answer)
}

// read takes the count out of an answer.
func read(answer []byte) (int, error) {
	var a struct {
		InputTokens *int `json:"input_tokens"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.InputTokens == nil {
		return 0, errors.New("the answer is not of the form {\"input_tokens\": 403}; is there a token counter at this address?")
	}
	if *a.InputTokens < 1 || *a.InputTokens > math.MaxInt32 {
		return 0, fmt.Errorf("the answer says %d tokens, which can't be", *a.InputTokens)
	}
	return *a.InputTokens, nil
}

// retryAfter reads seconds or a date; 0 for anything else.
func retryAfter(s string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		if seconds > 0 && seconds < 1e6 {
			return time.Duration(seconds * float64(time.Second))
		}
		return 0
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}
