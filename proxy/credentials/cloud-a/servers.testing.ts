// Servers of AWS that issue keys, written from the public documentation: the Security Token Service (STS), the server
// of container credentials (ECS, EKS Pod Identity) and the instance metadata service, version 2.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type ReceivedRequest, verifySignature, type Verified } from './verifier.testing.ts'

export interface TestServer {
  readonly url: string
  close(): Promise<void>
}

type Answer = (request: ReceivedRequest, response: ServerResponse) => void

async function serve(answer: Answer): Promise<TestServer> {
  const server = createServer((message, response) => {
    void collect(message).then((body) => {
      const { method = '', url = '', headers } = message
      const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
      answer({ method, target: url, headers: lower, body }, response)
    })
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

async function collect(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

export interface StsCall {
  /** Parameters of the query API. */
  readonly form: Readonly<Record<string, string>>
  /** undefined: the action needs no signature. */
  readonly verified: Verified | undefined
}

export interface StsServer extends TestServer {
  readonly calls: StsCall[]
  /** Answers instead of keys; undefined: keys. */
  failure: { readonly status: number; readonly code: string; readonly message: string } | 'silence' | undefined
  expiration: Date
}

/** AssumeRole (signed with a key of `secrets`) and AssumeRoleWithWebIdentity. */
export async function stsServer(secrets: ReadonlyMap<string, string>): Promise<StsServer> {
  const calls: StsCall[] = []
  const state: Pick<StsServer, 'failure' | 'expiration'> = {
    failure: undefined,
    expiration: new Date(Date.now() + 3_600_000),
  }
  const server = await serve((request, response) => {
    const form = Object.fromEntries(new URLSearchParams(request.body.toString()))
    const action = form['Action'] ?? ''
    const isSigned = action === 'AssumeRole'
    let verified: Verified | undefined
    try {
      if (isSigned) verified = verifySignature(request, (id) => secrets.get(id) ?? 'unknown')
    } catch {
      stsError(response, { status: 403, code: 'SignatureDoesNotMatch', message: 'the signature does not match' })
      return
    }
    calls.push({ form, verified })
    if (state.failure === 'silence') return
    if (state.failure !== undefined) stsError(response, state.failure)
    else stsKeys(response, { action, number: calls.length, expiration: state.expiration })
  })
  return Object.assign(state, { ...server, calls })
}

function stsError(response: ServerResponse, error: { status: number; code: string; message: string }): void {
  response.writeHead(error.status, { 'content-type': 'text/xml' })
  response.end(
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>` +
      `<Code>${error.code}</Code><Message>${error.message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  )
}

function stsKeys(response: ServerResponse, answer: { action: string; number: number; expiration: Date }): void {
  const { action, number, expiration } = answer
  response.writeHead(200, { 'content-type': 'text/xml' })
  response.end(
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><AssumedRoleUser>` +
      `<Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn><AssumedRoleId>A:s</AssumedRoleId></AssumedRoleUser>` +
      `<Credentials><AccessKeyId>ASIA${number}</AccessKeyId><SecretAccessKey>sts-secret-${number}</SecretAccessKey>` +
      `<SessionToken>sts-token-${number}</SessionToken><Expiration>${expiration.toISOString()}</Expiration>` +
      `</Credentials></${action}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${action}Response>`,
  )
}

export interface KeyServer extends TestServer {
  readonly requests: ReceivedRequest[]
  status: number
  expiration: Date
}

function keysOf(prefix: string, expiration: Date): string {
  return JSON.stringify({
    Code: 'Success',
    Type: 'AWS-HMAC',
    LastUpdated: new Date().toISOString(),
    AccessKeyId: `ASIA${prefix}`,
    SecretAccessKey: `${prefix}-secret`,
    Token: `${prefix}-token`,
    Expiration: expiration.toISOString(),
  })
}

/** Requires the Authorization header that pods are given. */
export async function containerServer(authorization: string): Promise<KeyServer> {
  const requests: ReceivedRequest[] = []
  const state = { status: 200, expiration: new Date(Date.now() + 3_600_000) }
  const server = await serve((request, response) => {
    requests.push(request)
    const status = request.headers['authorization'] === authorization ? state.status : 401
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? keysOf('container', state.expiration) : '{"message":"refused"}')
  })
  return Object.assign(state, { ...server, requests })
}

const METADATA_TOKEN = 'metadata-session-token'
const ROLES = '/latest/meta-data/iam/security-credentials/'

/** Answers nothing without the token of version 2. */
export async function metadataServer(): Promise<KeyServer> {
  const requests: ReceivedRequest[] = []
  const state = { status: 200, expiration: new Date(Date.now() + 3_600_000) }
  const server = await serve((request, response) => {
    requests.push(request)
    const { method, target, headers } = request
    const answer = (status: number, text: string): void => void response.writeHead(status).end(text)
    if (method === 'PUT' && target === '/latest/api/token') {
      const isAsked = headers['x-aws-ec2-metadata-token-ttl-seconds'] !== undefined
      answer(isAsked ? 200 : 400, isAsked ? METADATA_TOKEN : '')
    } else if (headers['x-aws-ec2-metadata-token'] !== METADATA_TOKEN) answer(401, '')
    else if (state.status !== 200) answer(state.status, '')
    else if (target === ROLES) answer(200, 'node-role')
    else if (target === `${ROLES}node-role`) answer(200, keysOf('instance', state.expiration))
    else answer(404, '')
  })
  return Object.assign(state, { ...server, requests })
}
