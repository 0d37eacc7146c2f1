// The policies of a guard for the service of its vendor: the same fields, translated in the same way, as those of a
// backend. A broken one rejects all calls of the service, so that the guard rejects.
import type { BackendPayload, GuardService } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { GuardrailsAPolicies, GuardrailsCPolicies, ModerationAPIPolicies } from '#api/v1alpha1/shared.gen.ts'
import { backendAuth } from './backend-auth.ts'
import { backendHttp } from './backend-http.ts'
import { backendTcp } from './backend-tcp.ts'
import { backendTls } from './backend-tls.ts'
import { backendTunnel } from './backend-tunnel.ts'
import type { Emission, FieldContext } from './field.ts'

type Policies = ModerationAPIPolicies | GuardrailsAPolicies | GuardrailsCPolicies

/** `path`: of the guard. */
export function guardService(
  policies: Policies | undefined,
  path: FieldPath,
  context: FieldContext,
): { policies?: GuardService } {
  if (policies === undefined) return {}
  const { auth, http, tcp, tls, tunnel } = policies
  const at = (name: string): FieldContext => ({ ...context, path: `${path}.policies.${name}` })
  const emissions: ReadonlyArray<Emission<BackendPayload>> = [
    ...(auth === undefined ? [] : backendAuth.translate(auth, at('auth'))),
    ...(http === undefined ? [] : backendHttp.translate(http, at('http'))),
    ...(tcp === undefined ? [] : backendTcp.translate(tcp, at('tcp'))),
    ...(tls === undefined ? [] : backendTls.translate(tls, at('tls'))),
    ...(tunnel === undefined ? [] : backendTunnel.translate(tunnel, at('tunnel'))),
  ]
  return { policies: Object.assign({}, ...emissions.map(({ payload }) => payload)) }
}
