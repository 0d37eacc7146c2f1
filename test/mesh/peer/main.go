// The peers of a test: the certificate authority of Istio, its HBONE server and its HBONE client. Prints one JSON line
// with what the test needs, then serves until standard input ends.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"istio.io/istio/pkg/hbone"
	"istio.io/istio/pkg/security"
	"istio.io/istio/security/pkg/pki/ca"
	"istio.io/istio/security/pkg/pki/util"
	caserver "istio.io/istio/security/pkg/server/ca"
)

type authenticator struct {
	token, identity string
	isDown          *atomic.Bool
}

func (a authenticator) AuthenticatorType() string { return "test" }

func (a authenticator) Authenticate(ctx security.AuthContext) (*security.Caller, error) {
	if a.isDown.Load() {
		return nil, errors.New("down")
	}
	md, _ := metadata.FromIncomingContext(ctx.GrpcContext)
	if got := md.Get("authorization"); len(got) != 1 || got[0] != "Bearer "+a.token {
		return nil, errors.New("wrong token")
	}
	if got := md.Get("clusterid"); len(got) != 1 || got[0] != "Kubernetes" {
		return nil, errors.New("wrong cluster")
	}
	return &security.Caller{AuthSource: security.AuthSourceIDToken, Identities: []string{a.identity}}, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newAuthority() *ca.IstioCA {
	opts, err := ca.NewSelfSignedDebugIstioCAOptions("", 24*time.Hour, time.Hour, 24*time.Hour, "test", 2048)
	check(err)
	authority, err := ca.NewIstioCA(opts)
	check(err)
	return authority
}

func rootOf(authority *ca.IstioCA) string {
	return strings.TrimSpace(string(authority.GetCAKeyCertBundle().GetRootCertPem())) + "\n"
}

// A certificate of a workload, with its key.
func issue(authority *ca.IstioCA, id string, ttl time.Duration) *tls.Certificate {
	csr, key, err := util.GenCSR(util.CertOptions{Host: id, ECSigAlg: util.EcdsaSigAlg})
	check(err)
	cert, err := authority.Sign(csr, ca.CertOpts{SubjectIDs: []string{id}, TTL: ttl})
	check(err)
	pair, err := tls.X509KeyPair(cert, key)
	check(err)
	return &pair
}

func main() {
	token, identity, workload := os.Args[1], os.Args[2], os.Args[3]
	authority, other := newAuthority(), newAuthority()
	isDown := &atomic.Bool{}
	own, key, err := authority.GenKeyCert([]string{"localhost"}, time.Hour, false)
	check(err)
	pair, err := tls.X509KeyPair(own, key)
	check(err)
	server, err := caserver.New(authority, time.Hour, []security.Authenticator{authenticator{token, identity, isDown}}, nil)
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	rpc := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	server.Register(rpc)
	go rpc.Serve(listener)

	// A certificate and key of another authority, with its root, take the place of the own ones.
	root := rootOf(authority)
	presented := &atomic.Pointer[tls.Certificate]{}
	presented.Store(issue(authority, workload, time.Hour))
	if len(os.Args) > 6 {
		pair, err := tls.LoadX509KeyPair(os.Args[4], os.Args[5])
		check(err)
		presented.Store(&pair)
		bytes, err := os.ReadFile(os.Args[6])
		check(err)
		root = string(bytes)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(root))

	host := "127.0.0.1"
	if len(os.Args) > 7 {
		host = os.Args[7]
	}
	tunnels, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	check(err)
	hboneServer := hbone.NewServer()
	hboneServer.TLSConfig = &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return presented.Load(), nil },
		ClientCAs:      pool, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"},
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	hboneServer.Protocols = protocols
	var lock sync.Mutex
	open := map[net.Conn]bool{}
	hboneServer.ConnState = func(c net.Conn, state http.ConnState) {
		lock.Lock()
		defer lock.Unlock()
		if state == http.StateClosed || state == http.StateHijacked {
			delete(open, c)
		} else {
			open[c] = true
		}
	}
	// A new certificate is for new connections.
	closeTunnels := func() {
		lock.Lock()
		defer lock.Unlock()
		for c := range open {
			c.Close()
		}
	}
	go func() { check(hboneServer.ServeTLS(tunnels, "", "")) }()

	web, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	check(err)
	go http.Serve(web, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "go %s %s %d", r.Method, r.URL.Path, len(body))
	}))

	// GET /?tunnel=<host:port>&to=<host:port>: one request through a tunnel of the Go client.
	// GET /?ca=down|up: the authority rejects all requests, or serves them.
	// GET /?present=valid|expired|domain|root: the certificate of the workload; closes all tunnels.
	control, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(control, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch q.Get("present") {
		case "valid":
			presented.Store(issue(authority, workload, time.Hour))
		case "expired":
			presented.Store(issue(authority, workload, time.Second))
			time.Sleep(2 * time.Second)
		case "domain":
			presented.Store(issue(authority, strings.Replace(workload, "cluster.local", "b.example", 1), time.Hour))
		case "root":
			presented.Store(issue(other, workload, time.Hour))
		}
		if q.Has("present") {
			closeTunnels()
		}
		if q.Has("ca") {
			isDown.Store(q.Get("ca") == "down")
		}
		if !q.Has("tunnel") {
			return
		}
		dialer := hbone.NewDialer(hbone.Config{ProxyAddress: q.Get("tunnel"), TLS: &tls.Config{
			Certificates: []tls.Certificate{*presented.Load()}, RootCAs: pool, InsecureSkipVerify: true,
			VerifyConnection: func(state tls.ConnectionState) error {
				_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool()})
				return err
			},
		}})
		client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: 5 * time.Second}
		res, err := client.Get("http://" + q.Get("to") + "/")
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		defer res.Body.Close()
		io.Copy(w, res.Body)
	}))
	port := func(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"ca": port(listener), "root": root, "otherRoot": rootOf(other),
		"tunnels": port(tunnels), "web": port(web), "control": port(control),
	})
	io.Copy(io.Discard, os.Stdin)
}
