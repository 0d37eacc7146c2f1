// Every reason that the specification lists for a condition is shown by some golden, with its status.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { goldenFolder } from '#test/golden.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', 'translate', 'testdata')

/** Where a condition stands: an object, one of its listeners, or one of its parents or ancestors. */
type ConditionPlace =
  | 'GatewayClass'
  | 'Gateway'
  | 'Listener'
  | 'ListenerSet'
  | 'HTTPRoute'
  | 'GRPCRoute'
  | 'TLSRoute'
  | 'TCPRoute'
  | 'GwBackend'
  | 'GwPolicy'
  | 'BackendTLSPolicy'
  | 'GwModel'
  | 'InferencePool'

const TABLE: readonly (readonly [ConditionPlace, string, readonly string[]])[] = [
  ['GatewayClass', 'Accepted=True', ['Accepted']],
  ['Gateway', 'Accepted=True', ['Accepted', 'ListenersNotValid']],
  ['Gateway', 'Accepted=False', ['ListenersNotValid', 'Invalid', 'UnsupportedAddress']],
  ['Gateway', 'Programmed=True', ['Programmed']],
  ['Gateway', 'Programmed=False', ['Invalid', 'AddressNotUsable']],
  ['Gateway', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['Gateway', 'ResolvedRefs=False', ['InvalidClientCertificateRef', 'RefNotPermitted']],
  ['Gateway', 'InsecureFrontendValidationMode=True', ['ConfigurationChanged']],
  ['Listener', 'Accepted=True', ['Accepted']],
  [
    'Listener',
    'Accepted=False',
    ['UnsupportedProtocol', 'HostnameConflict', 'ProtocolConflict', 'NoValidCACertificate', 'PortUnavailable'],
  ],
  ['Listener', 'Programmed=True', ['Programmed']],
  ['Listener', 'Programmed=False', ['Invalid']],
  ['Listener', 'Conflicted=True', ['HostnameConflict', 'ProtocolConflict']],
  ['Listener', 'Conflicted=False', ['NoConflicts']],
  ['Listener', 'ResolvedRefs=True', ['ResolvedRefs']],
  [
    'Listener',
    'ResolvedRefs=False',
    [
      'InvalidCertificateRef',
      'RefNotPermitted',
      'InvalidRouteKinds',
      'InvalidCACertificateRef',
      'InvalidCACertificateKind',
    ],
  ],
  ['ListenerSet', 'Accepted=True', ['Accepted', 'ListenersNotValid']],
  ['ListenerSet', 'Accepted=False', ['NotAllowed', 'ListenersNotValid']],
  ['ListenerSet', 'Programmed=True', ['Programmed']],
  ['ListenerSet', 'Programmed=False', ['NotAllowed', 'ListenersNotValid']],
  ['HTTPRoute', 'Accepted=True', ['Accepted']],
  [
    'HTTPRoute',
    'Accepted=False',
    [
      'NoMatchingParent',
      'NotAllowedByListeners',
      'NoMatchingListenerHostname',
      'IncompatibleFilters',
      'UnsupportedValue',
    ],
  ],
  ['HTTPRoute', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['HTTPRoute', 'ResolvedRefs=False', ['BackendNotFound', 'InvalidKind', 'RefNotPermitted', 'UnsupportedValue']],
  ['GRPCRoute', 'Accepted=True', ['Accepted']],
  [
    'GRPCRoute',
    'Accepted=False',
    [
      'NoMatchingParent',
      'NotAllowedByListeners',
      'NoMatchingListenerHostname',
      'IncompatibleFilters',
      'UnsupportedValue',
    ],
  ],
  ['GRPCRoute', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['GRPCRoute', 'ResolvedRefs=False', ['BackendNotFound', 'InvalidKind', 'RefNotPermitted', 'UnsupportedValue']],
  ['TLSRoute', 'Accepted=True', ['Accepted']],
  ['TLSRoute', 'Accepted=False', ['NoMatchingParent', 'NotAllowedByListeners', 'NoMatchingListenerHostname']],
  ['TLSRoute', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['TLSRoute', 'ResolvedRefs=False', ['BackendNotFound', 'InvalidKind', 'RefNotPermitted', 'UnsupportedValue']],
  ['TCPRoute', 'Accepted=True', ['Accepted']],
  // Nothing in plain bytes names a host.
  ['TCPRoute', 'Accepted=False', ['NoMatchingParent', 'NotAllowedByListeners']],
  ['TCPRoute', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['TCPRoute', 'ResolvedRefs=False', ['BackendNotFound', 'InvalidKind', 'RefNotPermitted', 'UnsupportedValue']],
  ['GwBackend', 'Accepted=True', ['Accepted', 'PartiallyValid']],
  ['GwBackend', 'Accepted=False', ['TranslationError']],
  ['GwPolicy', 'Accepted=True', ['Valid', 'PartiallyValid']],
  ['GwPolicy', 'Accepted=False', ['Invalid']],
  ['GwPolicy', 'Attached=True', ['Attached', 'Merged']],
  ['GwPolicy', 'Attached=False', ['Pending', 'Overridden']],
  ['GwPolicy', 'StatusSummarized=True', ['StatusSummarized']],
  ['BackendTLSPolicy', 'Accepted=True', ['Accepted']],
  ['BackendTLSPolicy', 'Accepted=False', ['NoValidCACertificate', 'Invalid', 'Conflicted', 'TargetNotFound']],
  ['BackendTLSPolicy', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['BackendTLSPolicy', 'ResolvedRefs=False', ['InvalidCACertificateRef', 'InvalidKind']],
  ['BackendTLSPolicy', 'StatusSummarized=True', ['StatusSummarized']],
  ['GwModel', 'Accepted=True', ['Accepted']],
  ['GwModel', 'Accepted=False', ['NoMatchingParent', 'NotAllowedByListeners']],
  ['GwModel', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['GwModel', 'ResolvedRefs=False', ['Invalid']],
  ['InferencePool', 'Accepted=True', ['Accepted']],
  ['InferencePool', 'ResolvedRefs=True', ['ResolvedRefs']],
  ['InferencePool', 'ResolvedRefs=False', ['InvalidExtensionRef']],
]

interface Holder {
  readonly conditions?: readonly string[]
  readonly listeners?: readonly Holder[]
  readonly parents?: readonly Holder[]
  readonly ancestors?: readonly Holder[]
}

interface Output {
  readonly statuses: ReadonlyArray<Holder & { readonly object: string }>
}

/** `place condition reason`, of every condition in every golden. */
const shown = new Set<string>()
for (const { inputPath } of goldenFolder(ROOT).cases) {
  // Written by the golden test in this form.
  const output = parse(readFileSync(inputPath.replace('.in.yaml', '.out.yaml'), 'utf8')) as Output
  for (const { object, ...status } of output.statuses) add(object.slice(0, object.indexOf(' ')), status)
}

function add(place: string, { conditions = [], listeners = [], parents = [], ancestors = [] }: Holder): void {
  for (const line of conditions) shown.add(`${place} ${line.split(' (')[0]}`)
  for (const listener of listeners) add('Listener', listener)
  for (const entry of [...parents, ...ancestors]) add(place, entry)
}

describe('reasons of conditions', () => {
  const rows = TABLE.flatMap(([place, condition, reasons]) =>
    reasons.map((reason) => `${place} ${condition} ${reason}`),
  )

  it.each(rows)('%s', (row) => {
    expect(shown).toContain(row)
  })
})
