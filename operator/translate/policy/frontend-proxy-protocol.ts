// frontend.proxyProtocol: the header by which a load balancer passes on the address of the client.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { ProxyProtocol } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const proxyProtocol: FieldTranslator<ProxyProtocol, FrontendPayload> = {
  // If the proxy did not read a required header, it would use source addresses that are not the client's.
  failureMode: 'deny',
  translate: ({ version = 'V2', mode = 'Strict' }) => [
    { suffix: 'frontend-proxy', payload: { proxyProtocol: { version, mode } } },
  ],
}
