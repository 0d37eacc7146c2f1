// An upstream over TLS with the names of a workload, and the authority of its certificate, which the process of the
// cases trusts as one of its system. Created on the first use: no key is part of the repository.
import { createServer, type Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { echo } from './echo.ts'

export const WORKLOAD = { host: 'workload.example.com', id: 'spiffe://cluster.local/ns/data/sa/workload' } as const

let pairs: { readonly issuer: KeyPair; readonly own: KeyPair } | undefined

function made(): { readonly issuer: KeyPair; readonly own: KeyPair } {
  if (pairs !== undefined) return pairs
  const issuer = authority('Authority of workloads')
  const names = [`DNS:${WORKLOAD.host}`, `URI:${WORKLOAD.id}`]
  pairs = { issuer, own: certificateFor({ commonName: 'workload', names, issuer }) }
  return pairs
}

/** PEM. */
export const workloadAuthority = (): string => made().issuer.certificate

/** Sends its certificate to clients with any server name. */
export function workloadServer(): Server {
  const server = createServer({
    SNICallback(_name, done) {
      const { certificate, privateKey } = made().own
      done(null, createSecureContext({ cert: certificate, key: privateKey }))
    },
  })
  return server.on('request', echo('workload'))
}
