// The `backends` part of the configuration dump: one variant object for each backend, sorted by key. Pure.
import type { components } from '#api/admin/types.gen.ts'
import type { AIProvider, Backend, MCPTarget, ProviderGroup, RenderedConfig, StaticTarget } from '#api/ir/types.gen.ts'
import { addressKey, providerKey } from '../backend/endpoint-keys.ts'
import { dumpInline } from './dump-inline.ts'
import { endpointInfo, type FiguresOf } from './endpoint-info.ts'
import { figuresOfReferences, type FiguresOfReference } from './reference-figures.ts'

type Dump = Record<string, unknown>
type DumpBackend = components['schemas']['DumpBackend']

interface Figures {
  readonly ofKey: FiguresOf
  readonly ofReference: FiguresOfReference
}

export function dumpBackends(
  config: Pick<RenderedConfig, 'backends' | 'workloads'>,
  figures: FiguresOf,
): DumpBackend[] {
  const all = { ofKey: figures, ofReference: figuresOfReferences(config, figures) }
  return config.backends.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((backend) => dumpBackend(backend, all))
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

function sectionOf(backend: Backend): Dump {
  return backend.section === undefined ? {} : { section: backend.section }
}

function address(target: StaticTarget): string {
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
        const { hostOverride, backendRef } = provider
        const info =
          hostOverride === undefined && backendRef !== undefined
            ? endpointInfo(figures.ofReference(backendRef))
            : infoOf(providerKey(backend, provider), figures)
        return [provider.name, { endpoint: dumpProvider(provider), ...info, capacity: 1 }]
      }),
    ),
    rejected: {},
  }
}

function addressInfo(backend: Backend, figures: Figures): Dump {
  return infoOf(addressKey(backend), figures)
}

function infoOf(key: string | undefined, { ofKey }: Figures): Dump {
  const known = key === undefined ? undefined : ofKey(key)
  return known === undefined ? {} : endpointInfo([known])
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
