// The state collected while a standalone file is converted to a rendered configuration. Does not depend on a field.
import type { CompileEnvironment } from '#api/cel/compile.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { isAbsolute, join } from 'node:path'
import type {
  BackendPayload,
  JwtProvider,
  Policy,
  PolicyPayload,
  PolicyTarget,
  RenderedConfig,
  RenderedSecrets,
  SecretRef,
} from '#api/ir/types.gen.ts'
import { readText } from '../read-text.ts'
import type { FileOrInline } from '../schema/values.ts'

export interface FieldProblem {
  readonly path: string
  readonly message: string
  readonly severity: 'error' | 'warning'
}

export type BackendKind = 'host' | 'mcp' | 'ai' | 'dynamic' | 'aws' | 'invalid'

/** The place of a backend. */
export interface BackendPlace {
  readonly key: string
  readonly name: string
  /** Of its fields in the file. */
  readonly path: string
}

/** The default namespace. */
export const DEFAULT_NAMESPACE = 'default'

/** The key set last fetched from a URL. */
export type KeySetLookup = (url: string) => string | undefined

export interface BuildInput {
  /** The base of relative paths. */
  readonly folder: string
  readonly keySets: KeySetLookup
  /** The declarations of functions, valid ones. */
  readonly functions: string | undefined
}

export class BuildContext {
  readonly config: RenderedConfig = emptyConfig()
  /** The functions of all expressions. */
  readonly functions: CompileEnvironment
  /** By backend key. */
  readonly backendKinds = new Map<string, BackendKind>()
  /** Names that references may use. */
  readonly namedBackends = new Set<string>()
  /** Names of groups that routes may delegate requests to. */
  readonly routeGroups = new Set<string>()
  /** Paths of files that the configuration names. */
  readonly files = new Set<string>()
  readonly #problems = new Map<string, FieldProblem>()
  readonly #secrets = new Map<string, string>()
  /** URLs of key sets that the configuration names. */
  readonly keySetUrls = new Set<string>()
  readonly #folder: string
  readonly #keySets: KeySetLookup

  constructor({ folder, keySets, functions }: BuildInput) {
    this.#folder = folder
    this.#keySets = keySets
    this.functions = environmentWith(functions)
    if (functions !== undefined) this.config.customFunctions = functions
  }

  declareBackend(name: string, kind: BackendKind): void {
    this.namedBackends.add(name)
    this.backendKinds.set(`/${name}`, kind)
  }

  /** Of a backend by `name` or `/name`. */
  kindOfBackend(name: string): BackendKind | undefined {
    return this.backendKinds.get(name.startsWith('/') ? name : `/${name}`)
  }

  get problems(): FieldProblem[] {
    return [...this.#problems.values()]
  }

  get secrets(): RenderedSecrets {
    return { version: 1, secrets: [...this.#secrets].map(([key, value]) => ({ key, value })) }
  }

  error(path: string, message: string): void {
    this.#add({ path, message, severity: 'error' })
  }

  warn(path: string, message: string): void {
    this.#add({ path, message, severity: 'warning' })
  }

  /** A route on two listeners is built twice, but its mistakes are reported once. */
  #add(problem: FieldProblem): void {
    this.#problems.set(`${problem.path}\n${problem.message}`, problem)
  }

  /** Of a backend by `name` or `/name`. */
  inlinePoliciesOf(name: string): BackendPayload {
    const key = name.startsWith('/') ? name : `/${name}`
    return this.config.backends.find((backend) => backend.key === key)?.inlinePolicies ?? {}
  }

  /** `path`: of the field, which is also the name of the secret. A file that cannot be read is a missing secret. */
  secret(path: string, value: FileOrInline): SecretRef {
    const key = `standalone/${path}`
    const content = typeof value === 'string' ? value : this.readFile(`${path}.file`, value.file)
    if (content !== undefined) this.#secrets.set(key, content.trim())
    return { secret: key }
  }

  /** undefined: its file cannot be read. */
  valueOf({ secret }: SecretRef): string | undefined {
    return this.#secrets.get(secret)
  }

  /** The fields of a provider whose keys are fetched by the caller. */
  keySet(source: string): Pick<JwtProvider, 'source' | 'jwks' | 'unavailable'> {
    this.keySetUrls.add(source)
    const jwks = this.#keySets(source)
    return jwks === undefined ? { source, unavailable: `the keys of ${source} are not fetched yet` } : { source, jwks }
  }

  /** undefined: reported. */
  readFile(path: string, name: string): string | undefined {
    const file = isAbsolute(name) ? name : join(this.#folder, name)
    this.files.add(file)
    const read = readText(file)
    if ('text' in read) return read.text
    this.error(path, read.problem)
    return undefined
  }

  /** One policy for each field, as the contract requires. `key` is unique for the target. */
  attach(key: string, target: PolicyTarget, { phase, ...payload }: PolicyPayload & Pick<Policy, 'phase'>): void {
    this.config.policies.push({
      key,
      name: { kind: 'Standalone', namespace: DEFAULT_NAMESPACE, name: key },
      target,
      ...(phase !== undefined && { phase }),
      policy: payload,
    })
  }
}
