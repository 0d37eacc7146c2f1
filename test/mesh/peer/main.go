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

type authenticator struct{ token, identity string }

func (a authenticator) AuthenticatorType() string { return "test" }

func (a authenticator) Authenticate(ctx security.AuthContext) (*security.Caller, error) {
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

func main() {
	token, identity, workload := os.Args[1], os.Args[2], os.Args[3]
	opts, err := ca.NewSelfSignedDebugIstioCAOptions("", 24*time.Hour, time.Hour, 24*time.Hour, "test", 2048)
	check(err)
	authority, err := ca.NewIstioCA(opts)
	check(err)
	own, key, err := authority.GenKeyCert([]string{"localhost"}, time.Hour, false)
	check(err)
	pair, err := tls.X509KeyPair(own, key)
	check(err)
	server, err := caserver.New(authority, time.Hour, []security.Authenticator{authenticator{token, identity}}, nil)
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	rpc := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	server.Register(rpc)
	go rpc.Serve(listener)

	root := authority.GetCAKeyCertBundle().GetRootCertPem()
	csr, workloadKey, err := util.GenCSR(util.CertOptions{Host: workload, ECSigAlg: util.EcdsaSigAlg})
	check(err)
	workloadCert, err := authority.Sign(csr, ca.CertOpts{SubjectIDs: []string{workload}, TTL: time.Hour})
	check(err)
	workloadPair, err := tls.X509KeyPair(workloadCert, workloadKey)
	check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)

	tunnels, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	hboneServer := hbone.NewServer()
	hboneServer.TLSConfig = &tls.Config{
		Certificates: []tls.Certificate{workloadPair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"},
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	hboneServer.Protocols = protocols
	go func() { check(hboneServer.ServeTLS(tunnels, "", "")) }()

	web, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(web, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "go %s %s %d", r.Method, r.URL.Path, len(body))
	}))

	// GET /?tunnel=<host:port>&to=<host:port>: one request through a tunnel of the Go client.
	control, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(control, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		dialer := hbone.NewDialer(hbone.Config{ProxyAddress: q.Get("tunnel"), TLS: &tls.Config{
			Certificates: []tls.Certificate{workloadPair}, RootCAs: pool, InsecureSkipVerify: true,
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
		"ca": port(listener), "root": strings.TrimSpace(string(root)) + "\n",
		"tunnels": port(tunnels), "web": port(web), "control": port(control),
	})
	io.Copy(io.Discard, os.Stdin)
}
