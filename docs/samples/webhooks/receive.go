// Receives webhooks: WEBHOOK_SECRET=whsec_... go run receive.go
// Needs Go 1.19 or later, no modules. Set TLS_CERT and TLS_KEY to serve HTTPS.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceS = 300
const bodyMaxBytes = 1024 * 1024

// verify reports whether the unmodified body was signed with secret within five minutes of now.
func verify(secret, header string, body []byte, now time.Time) bool {
	parts := map[string]string{}
	for _, part := range strings.Split(header, ",") {
		if name, value, found := strings.Cut(part, "="); found {
			parts[name] = value
		}
	}
	t, err := strconv.ParseUint(parts["t"], 10, 40)
	if err != nil {
		return false
	}
	age := now.Unix() - int64(t)
	if age > toleranceS || age < -toleranceS {
		return false
	}
	given, err := hex.DecodeString(parts["v1"])
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts["t"] + "."))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// handled holds the IDs of processed events. In production, use a table with a unique key, in the transaction of
// your work.
var handled sync.Map

func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMaxBytes))
		if err != nil || !verify(secret, r.Header.Get("X-Service-Signature"), body, time.Now()) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var event struct{ ID, Type string }
		if json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, seen := handled.LoadOrStore(event.ID, true); !seen {
			fmt.Println(event.ID, event.Type)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func main() {
	secret, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("set WEBHOOK_SECRET")
	}
	if port == "" {
		port = "9000"
	}
	fmt.Println("listening on", port)
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: receive(secret), ReadTimeout: 10 * time.Second}
	if cert, key := os.Getenv("TLS_CERT"), os.Getenv("TLS_KEY"); cert != "" && key != "" {
		log.Fatal(server.ListenAndServeTLS(cert, key))
	}
	log.Fatal(server.ListenAndServe())
}
