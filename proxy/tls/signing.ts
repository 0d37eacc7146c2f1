// Loads what signs certificates when the first client of a listener that signs has come: the library of certificates
// costs each worker 10 to 16 MiB and 30 to 80 ms, and most gateways sign nothing.
import type tls from 'node:tls'
import type { CertificatePair } from './certificates.ts'
import type { SignedContexts } from './signed-contexts.ts'

let loaded: typeof import('./signed-contexts.ts') | undefined

export function isSigningLoaded(): boolean {
  return loaded !== undefined
}

export async function loadSigning(): Promise<void> {
  loaded = await import('./signed-contexts.ts')
}

/** After `loadSigning`. @throws {Error} when the pair is not that of an authority. */
export function createSignedContexts(pair: CertificatePair, options: tls.SecureContextOptions): SignedContexts {
  if (loaded === undefined) throw new Error('the certificate authority is not loaded')
  return new loaded.SignedContexts(pair, options)
}
