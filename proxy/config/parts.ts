// Parts of the proxy that many configurations do not use. They are loaded before the first configuration that needs
// them is compiled, and stay; compiling itself waits for nothing.
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { compileAiBackend } from '../llm/backend.ts'
import type { commonFailureBody, failureBodyOf, modelsFailureBody } from '../llm/failure-body.ts'
import type { compileModels } from '../llm/models.ts'
import type { isServed } from '../llm/providers/table.ts'
import type { compileMcpBackend } from '../mcp/backend.ts'

interface Parts {
  readonly llm: {
    readonly compileAiBackend: typeof compileAiBackend
    readonly compileModels: typeof compileModels
    readonly isServed: typeof isServed
    readonly commonFailureBody: typeof commonFailureBody
    readonly failureBodyOf: typeof failureBodyOf
    readonly modelsFailureBody: typeof modelsFailureBody
  }
  readonly mcp: { readonly compileMcpBackend: typeof compileMcpBackend }
}

const loaded: { -readonly [N in keyof Parts]?: Parts[N] } = {}

/** Before `compileConfig` with the same configuration. */
export async function loadParts({ backends }: Pick<RenderedConfig, 'backends'>): Promise<void> {
  if (loaded.llm === undefined && backends.some(({ ai, models }) => ai !== undefined || models !== undefined)) {
    loaded.llm = await loadLlm()
  }
  if (loaded.mcp === undefined && backends.some(({ mcp }) => mcp !== undefined)) {
    loaded.mcp = await import('../mcp/backend.ts')
  }
}

async function loadLlm(): Promise<Parts['llm']> {
  const [backend, failures, models, providers] = await Promise.all([
    import('../llm/backend.ts'),
    import('../llm/failure-body.ts'),
    import('../llm/models.ts'),
    import('../llm/providers/table.ts'),
  ])
  return { ...backend, ...failures, ...models, ...providers }
}

/** @throws {Error} when it was not loaded: a configuration was compiled without `loadParts` */
export function partOf<N extends keyof Parts>(name: N): Parts[N] {
  const part: Parts[N] | undefined = loaded[name]
  if (part === undefined) throw new Error(`${name} is not loaded`)
  return part
}
