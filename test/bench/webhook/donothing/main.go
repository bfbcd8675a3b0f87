// The peer of bench:webhook: the least that a webhook in Go does. It reads a review, and allows it.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
)

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID string `json:"uid"`
}

type response struct {
	UID     string `json:"uid"`
	Allowed bool   `json:"allowed"`
}

func allow(writer http.ResponseWriter, call *http.Request) {
	var asked review
	if err := json.NewDecoder(call.Body).Decode(&asked); err != nil || asked.Request == nil {
		http.Error(writer, "no review", http.StatusBadRequest)
		return
	}
	writer.Header().Set("content-type", "application/json")
	answer := review{APIVersion: asked.APIVersion, Kind: asked.Kind, Response: &response{asked.Request.UID, true}}
	if err := json.NewEncoder(writer).Encode(answer); err != nil {
		log.Print(err)
	}
}

func main() {
	address := flag.String("address", "127.0.0.1:9443", "where it listens")
	certificate := flag.String("certificate", "", "PEM file")
	key := flag.String("key", "", "PEM file")
	flag.Parse()
	http.HandleFunc("/", allow)
	log.Fatal(http.ListenAndServeTLS(*address, *certificate, *key, nil))
}
