// The `backends` part of the configuration dump: one variant object for each backend, sorted by key. Pure.
import type { components } from '#api/admin/types.gen.ts'
import type { AIProvider, Backend, MCPTarget, ProviderGroup, RenderedConfig, StaticTarget } from '#api/ir/types.gen.ts'
import type { EndpointFigures } from '../backend/endpoint-store.ts'
import { addressKey, providerKey } from '../backend/endpoint-keys.ts'
import { dumpInline } from './dump-inline.ts'
import { endpointInfo, type FiguresOf, figuresOfKeys, type OfKey } from './endpoint-info.ts'
import { figuresOfReferences, type OfReference } from './reference-figures.ts'

type Dump = Record<string, unknown>
type DumpBackend = components['schemas']['DumpBackend']

export interface Figures<T = EndpointFigures> {
  readonly ofKey: OfKey<T>
  readonly ofReference: OfReference<T>
}

export function dumpBackends(
  config: Pick<RenderedConfig, 'backends' | 'workloads'>,
  figures: FiguresOf,
): DumpBackend[] {
  const all = allFigures(config, figures)
  return config.backends.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((backend) => dumpBackend(backend, all))
}

export function allFigures<T>(config: Pick<RenderedConfig, 'backends' | 'workloads'>, figures: OfKey<T>): Figures<T> {
  return { ofKey: figures, ofReference: figuresOfReferences(config, figures) }
}

function dumpBackend(backend: Backend, figures: Figures): DumpBackend {
  return { backend: variantOf(backend, figures), ...dumpInline(backend.inlinePolicies) }
}

function variantOf(backend: Backend, figures: Figures): Dump {
  const name = { name: backend.name.name, namespace: backend.name.namespace, ...sectionOf(backend) }
  if (backend.static !== undefined) {
    return {
      host: {
        ...name,
        target: address(backend.static),
        ...addressInfo(backend, figures),
        ...(backend.a2a === true ? { a2a: true } : {}),
      },
    }
  }
  if (backend.dynamic !== undefined) return { dynamic: name }
  if (backend.ai !== undefined)
    return {
      ai: { ...name, target: { providers: backend.ai.groups.map((group) => dumpGroup(backend, group, figures)) } },
    }
  if (backend.mcp !== undefined) {
    const { targets, sessionRouting, prefixMode, failureMode } = backend.mcp
    return {
      mcp: {
        ...name,
        target: {
          targets: targets.map((target) => dumpMcpTarget(target, figures)),
          stateful: sessionRouting === 'Stateful',
          prefixMode: prefixMode.toLowerCase(),
          failureMode: failureMode === 'FailOpen' ? 'failOpen' : 'failClosed',
        },
      },
    }
  }
  if (backend.models !== undefined) return { llmRouter: { ...name, target: backend.models } }
  if (backend.agentCore !== undefined)
    return { aws: { ...name, target: backend.agentCore, ...addressInfo(backend, figures) } }
  return { invalid: { ...name, target: backend.invalid ?? backend.unsupported ?? 'no target' } }
}

export function sectionOf(backend: Backend): { readonly section?: string } {
  return backend.section === undefined ? {} : { section: backend.section }
}

export function address(target: StaticTarget): string {
  if (target.unixPath !== undefined) return `unix:${target.unixPath}`
  const host = target.host ?? ''
  return `${host.includes(':') ? `[${host}]` : host}:${target.port ?? 0}`
}

/**
 * Evicted providers are still active: they come back on their own, and serve when all are evicted. None weighs more
 * than another of its group.
 */
function dumpGroup(backend: Backend, group: ProviderGroup, figures: Figures): Dump {
  return {
    active: Object.fromEntries(
      group.providers.map((provider) => {
        const info = endpointInfo(figuresOfProvider(backend, provider, figures))
        return [provider.name, { endpoint: dumpProvider(provider), ...info, capacity: 1 }]
      }),
    ),
    rejected: {},
  }
}

export function figuresOfProvider<T>(backend: Backend, provider: AIProvider, { ofKey, ofReference }: Figures<T>): T[] {
  const { hostOverride, backendRef } = provider
  return hostOverride === undefined && backendRef !== undefined
    ? ofReference(backendRef)
    : ofOneKey(providerKey(backend, provider), ofKey)
}

export function figuresOfAddress<T>(backend: Backend, { ofKey }: Figures<T>): T[] {
  return ofOneKey(addressKey(backend), ofKey)
}

function ofOneKey<T>(key: string | undefined, figures: OfKey<T>): T[] {
  return key === undefined ? [] : figuresOfKeys([key], figures)
}

function addressInfo(backend: Backend, figures: Figures): Dump {
  return endpointInfo(figuresOfAddress(backend, figures))
}

function dumpProvider(provider: AIProvider): Dump {
  const { hostOverride, inlinePolicies, ...rest } = provider
  return {
    ...rest,
    ...(hostOverride === undefined ? {} : { hostOverride: `${hostOverride.host}:${hostOverride.port}` }),
    ...dumpInline(inlinePolicies),
  }
}

function dumpMcpTarget(target: MCPTarget, { ofReference }: Figures): Dump {
  return { ...target, ...(target.ref === undefined ? {} : endpointInfo(ofReference(target.ref))) }
}
