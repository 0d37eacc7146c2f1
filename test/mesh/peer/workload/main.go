// A workload of a mesh in a Pod: it gets its certificate from istiod with Istio's client for the CA, and uses Istio's
// HBONE server and HBONE client.
//
//	workload serve [ID]              tunnels on port 15008 and a web server on port 8080, until it is killed
//	workload get TUNNEL URL [ID]     one GET request through a tunnel to TUNNEL (host:port); prints the answer as JSON
//
// With ID, a SPIFFE ID, it signs its certificate itself with the key of the authority of the mesh.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"istio.io/istio/pkg/hbone"
	istiolog "istio.io/istio/pkg/log"
	"istio.io/istio/pkg/security"
	citadel "istio.io/istio/security/pkg/nodeagent/caclient/providers/citadel"
	"istio.io/istio/security/pkg/pki/util"
)

const (
	authorityOfMesh = "istiod.istio-system.svc:15012"
	tokenFile       = "/var/run/secrets/tokens/istio-token"
	rootFile        = "/var/run/secrets/istio/root-cert.pem"
	// As istiod reads it: ca-cert.pem, ca-key.pem, cert-chain.pem.
	authorityFolder = "/etc/cacerts"
	certificateTTL  = 24 * time.Hour
	checkEvery      = time.Second
	requestTime     = 20 * time.Second
	bodyBytesMax    = 1 << 20
)

// The token of the service account of the Pod.
type podToken struct{}

func (podToken) GetPlatformCredential() (string, error) {
	token, err := os.ReadFile(tokenFile)
	return strings.TrimSpace(string(token)), err
}

func (podToken) GetIdentityProvider() string { return "" }

func (podToken) Stop() {}

func main() {
	command, args, id := "", os.Args[1:], ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	counts := map[string]int{"serve": 0, "get": 2}
	count, known := counts[command]
	if known && len(args) == count+1 {
		id = args[count]
	}
	// Standard output is for the answer.
	options := istiolog.DefaultOptions()
	options.OutputPaths = []string{"stderr"}
	err := istiolog.Configure(options)
	switch {
	case err != nil:
	case !known || len(args) < count || len(args) > count+1:
		err = errors.New("usage: workload serve [ID] | workload get TUNNEL URL [ID]")
	case command == "serve":
		err = serve(id)
	default:
		err = get(args[0], args[1], id)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func obtain(id string) (*tls.Certificate, error) {
	if id != "" {
		return signOwn(id)
	}
	csr, key, err := util.GenCSR(util.CertOptions{ECSigAlg: util.EcdsaSigAlg})
	if err != nil {
		return nil, err
	}
	options := &security.Options{
		CAEndpoint: authorityOfMesh, ClusterID: "Kubernetes", CredFetcher: podToken{},
	}
	client, err := citadel.NewCitadelClient(options, &citadel.TLSOptions{RootCert: rootFile})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	chain, err := client.CSRSign(csr, int64(certificateTTL.Seconds()))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(strings.Join(chain, "\n")), key)
	return &pair, err
}

func signOwn(id string) (*tls.Certificate, error) {
	parts := map[string][]byte{}
	for _, name := range []string{"ca-cert.pem", "ca-key.pem", "cert-chain.pem"} {
		text, err := os.ReadFile(filepath.Join(authorityFolder, name))
		if err != nil {
			return nil, err
		}
		parts[name] = text
	}
	caCert, err := util.ParsePemEncodedCertificate(parts["ca-cert.pem"])
	if err != nil {
		return nil, err
	}
	caKey, err := util.ParsePemEncodedKey(parts["ca-key.pem"])
	if err != nil {
		return nil, err
	}
	cert, key, err := util.GenCertKeyFromOptions(util.CertOptions{
		Host: id, NotBefore: time.Now(), TTL: time.Hour, SignerCert: caCert, SignerPriv: caKey,
		IsClient: true, IsServer: true, ECSigAlg: util.EcdsaSigAlg,
	})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(append(cert, parts["cert-chain.pem"]...), key)
	return &pair, err
}

func roots() (*x509.CertPool, error) {
	text, err := os.ReadFile(rootFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(rootFile + ": no certificate")
	}
	return pool, nil
}

func identityOf(state tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 || len(state.PeerCertificates[0].URIs) != 1 {
		return "none"
	}
	return state.PeerCertificates[0].URIs[0].String()
}

// keepCurrent requests a certificate at the start, and again when the roots of the mesh change.
func keepCurrent(current *atomic.Pointer[tls.Certificate], id string) {
	used := ""
	for ; ; time.Sleep(checkEvery) {
		text, err := os.ReadFile(rootFile)
		if err == nil && string(text) == used {
			continue
		}
		pair, failure := obtain(id)
		if err = errors.Join(err, failure); err != nil {
			log.Print(err) // the previous certificate stays in use
			continue
		}
		used = string(text)
		current.Store(pair)
	}
}

func serve(id string) error {
	current := &atomic.Pointer[tls.Certificate]{}
	lastClient := &atomic.Value{}
	go keepCurrent(current, id)
	tunnels := hbone.NewServer()
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	tunnels.Addr, tunnels.Protocols = ":15008", protocols
	tunnels.TLSConfig = &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			pair := current.Load()
			if pair == nil {
				return nil, errors.New("no certificate yet")
			}
			pool, err := roots()
			return &tls.Config{
				Certificates: []tls.Certificate{*pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
				NextProtos: []string{"h2"}, SessionTicketsDisabled: true,
				VerifyConnection: func(state tls.ConnectionState) error {
					lastClient.Store(identityOf(state))
					return nil
				},
			}, err
		},
	}
	failed := make(chan error, 2)
	go func() { failed <- tunnels.ListenAndServeTLS("", "") }()
	// Reports how the request came: the HBONE server dials from the address of the Pod itself.
	go func() {
		failed <- http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			local, _, _ := net.SplitHostPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String())
			remote, _, _ := net.SplitHostPort(r.RemoteAddr)
			if r.URL.Path == "/ready" {
				if current.Load() == nil {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				return
			}
			if local == remote {
				fmt.Fprintf(w, "%s %s through a tunnel of %s", r.Method, r.URL.Path, lastClient.Load())
			} else {
				fmt.Fprintf(w, "%s %s in clear text", r.Method, r.URL.Path)
			}
		}))
	}()
	return <-failed
}

func get(tunnel, url, id string) error {
	answer := map[string]any{}
	if err := ask(tunnel, url, id, answer); err != nil {
		answer["error"] = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func ask(tunnel, url, id string, answer map[string]any) error {
	pair, err := obtain(id)
	if err != nil {
		return err
	}
	pool, err := roots()
	if err != nil {
		return err
	}
	dialer := hbone.NewDialer(hbone.Config{ProxyAddress: tunnel, TLS: &tls.Config{
		// The name in the certificate is a SPIFFE ID, which VerifyConnection reports; it verifies the rest.
		Certificates: []tls.Certificate{*pair}, InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			others := x509.NewCertPool()
			for _, cert := range state.PeerCertificates[1:] {
				others.AddCert(cert)
			}
			answer["server"] = identityOf(state)
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: others})
			return err
		},
	}})
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Transport{DialContext: dialer.DialContext}).RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyBytesMax))
	answer["status"], answer["peer"], answer["body"] = response.StatusCode, response.Header.Get("x-peer"), string(body)
	return err
}
