// Issuer of the quickstart: a key pair made at the start, its public half at /keys, and a token for any client at
// /token.
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'

const ISSUER = 'http://127.0.0.1:18084'
const AUDIENCE = 'quickstart'
const ALGORITHM = 'ES256'
const KEY_ID = 'quickstart'
const LIFETIME = '10m'

interface Keys {
  readonly privateKey: CryptoKey
  /** JSON Web Key Set. */
  readonly published: string
}

export function issuerServer(): Server {
  const keys = makeKeys()
  return createServer((request, response) => {
    keys.then(
      (made) => answer(made, request.url ?? '', response),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
}

async function makeKeys(): Promise<Keys> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM)
  const key = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' }
  return { privateKey, published: JSON.stringify({ keys: [key] }) }
}

function answer({ privateKey, published }: Keys, url: string, response: ServerResponse): void {
  if (url === '/keys') response.writeHead(200, { 'content-type': 'application/json' }).end(published)
  else if (url === '/token') {
    token(privateKey).then(
      (text) => response.writeHead(200, { 'content-type': 'application/jwt' }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  } else response.writeHead(404).end('there are /keys and /token\n')
}

function token(privateKey: CryptoKey): Promise<string> {
  return new SignJWT({ plan: 'demo' })
    .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('alice')
    .setIssuedAt()
    .setExpirationTime(LIFETIME)
    .sign(privateKey)
}
