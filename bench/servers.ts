// The servers that are compared: each proxies to the same upstream with keep-alive, one worker, no access log.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Contender } from './contender.ts'
import { litellm } from './litellm.ts'
import { MCP_ROUTES, mcpLocations, mcpManifests, mcpServers, mcpUpstreams, NGINX_MCP_ROUTES } from './mcp-routes.ts'
import type { MeasuredRoute } from './measured-route.ts'
import {
  MODEL_FLUSH_PORT,
  MODEL_ROUTES,
  modelLocations,
  modelManifests,
  modelUpstreams,
  modelServers,
  NGINX_MODEL_ROUTES,
  streamFile,
} from './model-routes.ts'

/** Credentials for backends, beside the same requests without. */
const CREDENTIAL_ROUTES: readonly MeasuredRoute[] = [
  { name: 'gw, GET with a token', path: '/', headers: ['authorization: Bearer of-client'] },
  {
    name: 'gw, GET whose token is exchanged, kept',
    path: '/exchange',
    headers: ['authorization: Bearer of-client'],
    comparedTo: 'gw, GET with a token',
  },
  { name: 'gw, POST of 1 KiB', path: '/', bodyBytes: 1024 },
  { name: 'gw, POST of 1 KiB, signed for AWS', path: '/signed', bodyBytes: 1024, comparedTo: 'gw, POST of 1 KiB' },
]

export const UPSTREAM_PORT = 19_100

/** Two workers would share one processor. */
const NGINX_COMMON = `worker_processes 1;
daemon off;
error_log stderr error;
events { worker_connections 4096; }
`

export function upstream(folder: string): Contender {
  // The worker of nginx reads answers as another user.
  chmodSync(folder, 0o755)
  const config = `${NGINX_COMMON}pid ${folder}/upstream.pid;
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/u; proxy_temp_path ${folder}/u; fastcgi_temp_path ${folder}/u; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/u;
  server {
    listen 127.0.0.1:${UPSTREAM_PORT} backlog=4096;
    location / { default_type text/plain; return 200 "hello\\n"; }
    location /token { default_type application/json; return 200 '{"access_token":"t","token_type":"Bearer","expires_in":3600}'; }
  }${modelServers(folder)}${mcpServers(folder)}
}
`
  return nginx('upstream', UPSTREAM_PORT, folder, config)
}

/** Beside the upstream: what it cannot answer. */
export function flushUpstream(folder: string, root: string): Contender {
  const args = [join(root, 'bench', 'flush-server.ts'), String(MODEL_FLUSH_PORT), streamFile(folder)]
  return { name: 'upstream of flushes', port: MODEL_FLUSH_PORT, command: process.execPath, args }
}

export function contenders(folder: string, root: string): readonly Contender[] {
  const program = process.env['GW_BENCH_LITELLM']
  const others = program === undefined ? [] : [litellm(folder, program)]
  return [nginxProxy(folder), haproxy(folder), gw(folder, root, false), gw(folder, root, true), ...others]
}

function nginxProxy(folder: string): Contender {
  const config = `${NGINX_COMMON}pid ${folder}/nginx.pid;
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/n; proxy_temp_path ${folder}/n; fastcgi_temp_path ${folder}/n; uwsgi_temp_path ${folder}/n; scgi_temp_path ${folder}/n;
  ${modelUpstreams()}
  ${mcpUpstreams()}
  upstream backend { server 127.0.0.1:${UPSTREAM_PORT}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:19101 backlog=4096;
    location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }
    ${modelLocations()}
    ${mcpLocations()}
  }
}
`
  return { ...nginx('nginx', 19_101, folder, config), routes: [...NGINX_MODEL_ROUTES, ...NGINX_MCP_ROUTES] }
}

function nginx(name: string, port: number, folder: string, config: string): Contender {
  const file = join(folder, `${name}.conf`)
  mkdirSync(join(folder, 'u'), { recursive: true })
  mkdirSync(join(folder, 'n'), { recursive: true })
  writeFileSync(file, config)
  return { name, port, command: 'nginx', args: ['-p', folder, '-c', file] }
}

function haproxy(folder: string): Contender {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend in
  bind 127.0.0.1:19102
  default_backend out
backend out
  server s1 127.0.0.1:${UPSTREAM_PORT}
`,
  )
  return { name: 'haproxy', port: 19_102, command: 'haproxy', args: ['-db', '-f', file] }
}

/** The bundle that is shipped (`make build`), configured by manifests. */
function gw(folder: string, root: string, hasAccessLog: boolean): Contender {
  const name = hasAccessLog ? 'gw, log on' : 'gw'
  const port = hasAccessLog ? 19_104 : 19_103
  const file = join(folder, `gw-${port}.yaml`)
  writeFileSync(
    file,
    gwManifests(port)
      .map((object) => stringify(object))
      .join('---\n'),
  )
  const address = (n: number): string => `127.0.0.1:${n}`
  return {
    name,
    port,
    ...(!hasAccessLog && {
      watched: { name: 'gw, trace watcher that matches nothing', url: watchUrl(port + 100) },
      routes: [...CREDENTIAL_ROUTES, ...MODEL_ROUTES, ...MCP_ROUTES],
    }),
    command: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      join(root, 'dist', 'gw.js'),
      'run',
      '-f',
      file,
      '--workers',
      '1',
      '--admin-addr',
      address(port + 100),
      '--stats-addr',
      address(port + 200),
      '--readiness-addr',
      address(port + 300),
      ...(hasAccessLog ? [] : ['--no-access-log']),
    ],
  }
}

/** Its expression is evaluated for every request. */
function watchUrl(adminPort: number): string {
  return `http://127.0.0.1:${adminPort}/debug/trace?expression=${encodeURIComponent('request.path == "/never"')}`
}

function gwManifests(port: number): readonly object[] {
  const gateway = 'gateway.networking.k8s.io/v1'
  const secretRef = { name: 'credentials' }
  const backendRef = { group: 'gw.dev', kind: 'GwBackend', name: 'upstream' }
  const clientAuth = { clientId: 'bench', secretRef }
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'credentials' },
      stringData: { accessKey: 'AKIABENCH', secretKey: 'bench', clientSecret: 'bench' },
    },
    ...modelManifests(),
    ...mcpManifests(),
    ...routeWith('exchange', { oauthTokenExchange: { backendRef, path: '/token', clientAuth } }),
    ...routeWith('signed', { cloudA: { secretRef, region: 'eu-central-1', serviceName: 'execute-api' } }),
    {
      apiVersion: gateway,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    {
      apiVersion: gateway,
      kind: 'Gateway',
      metadata: { name: 'bench' },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { name: 'upstream' },
      spec: { static: { host: '127.0.0.1', port: UPSTREAM_PORT } },
    },
    {
      apiVersion: gateway,
      kind: 'HTTPRoute',
      metadata: { name: 'bench' },
      spec: {
        parentRefs: [{ name: 'bench' }],
        rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'upstream' }] }],
      },
    },
  ]
}

/** A route at the path of its name, with a policy for its backend. */
function routeWith(name: string, auth: object): readonly object[] {
  const group = 'gateway.networking.k8s.io'
  return [
    {
      apiVersion: `${group}/v1`,
      kind: 'HTTPRoute',
      metadata: { name },
      spec: {
        parentRefs: [{ name: 'bench' }],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
            backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'upstream' }],
          },
        ],
      },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: { name },
      spec: { targetRefs: [{ group, kind: 'HTTPRoute', name }], backend: { auth } },
    },
  ]
}
