// A server of the user that speaks the formats the user lists.
import type { CustomProvider } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { type Paths, type Provider, usualPaths } from './provider.ts'

export const custom: Provider<CustomProvider> = {
  model: ({ model }) => model,
  formats({ formats }) {
    const spoken = new Set(formats.map(({ type }) => type))
    return () => spoken
  },
  paths({ formats }, prefix) {
    const own = new Map<SentFormatName, Paths>(
      formats.map(({ type, path }) => [type, path === undefined ? usualPaths(prefix) : ownPaths(path)]),
    )
    const usual = usualPaths(prefix)
    return (format, model, isStreaming) => (own.get(format.name) ?? usual)(format, model, isStreaming)
  },
  keepsClientPath: false,
  prepareHeaders() {},
}

/** `path`: of the user; only the beginning where the rest names the model. */
function ownPaths(path: string): Paths {
  const inFront = usualPaths(path)
  return (format, model, isStreaming) => (format.modelPath === undefined ? path : inFront(format, model, isStreaming))
}
