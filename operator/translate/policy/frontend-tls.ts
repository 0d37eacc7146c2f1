// frontend.tls: handshakes of TLS listeners. The proxy reports unknown ciphers and curves, because its OpenSSL decides.
import type { FrontendPayload, FrontendTLS as RenderedTLS } from '#api/ir/types.gen.ts'
import type { FrontendTLS } from '#api/v1alpha1/gwpolicy.gen.ts'
import { versionsLeft } from '#api/tls/versions-left.ts'
import { durationMs } from '../duration.ts'
import { denyBroken, type FieldTranslator, reportError } from './field.ts'

const SUFFIX = 'frontend-tls'

export const frontendTls: FieldTranslator<FrontendTLS, FrontendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const left = versionsLeft(value)
    if ('field' in left) {
      const problem = { path: `${context.path}.${left.field}`, reason: 'Invalid', message: left.message }
      if (left.field === 'minProtocolVersion') return [denyBroken(context, SUFFIX, problem)]
      // The proxy rejects the handshakes of its TLS listeners; ports without TLS are not affected.
      reportError(context, problem)
    }
    const tls = render(value)
    return Object.keys(tls).length === 0 ? [] : [{ suffix: SUFFIX, payload: { tls } }]
  },
}

function render(value: FrontendTLS): RenderedTLS {
  const { alpnProtocols, minProtocolVersion, maxProtocolVersion, cipherSuites, keyExchangeGroups } = value
  const handshakeTimeoutMs = value.handshakeTimeout === undefined ? undefined : durationMs(value.handshakeTimeout)
  return {
    ...(handshakeTimeoutMs && { handshakeTimeoutMs }),
    ...(alpnProtocols !== undefined && { alpnProtocols: [...alpnProtocols] }),
    ...(minProtocolVersion !== undefined && { minProtocolVersion }),
    ...(maxProtocolVersion !== undefined && { maxProtocolVersion }),
    ...(cipherSuites !== undefined && { cipherSuites: [...cipherSuites] }),
    ...(keyExchangeGroups !== undefined && { keyExchangeGroups: [...keyExchangeGroups] }),
  }
}
