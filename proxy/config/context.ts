// Shared by all parts of the compiler while one configuration is compiled.
import type { CredentialNames } from '../log/credential-names.ts'
import type { SecretRef } from '#api/ir/types.gen.ts'
import type { CompileEnvironment as CelEnvironment } from '#api/cel/compile.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { AuthStores } from '../auth/auth-stores.ts'
import type { Directory, TargetResolver } from '../backend/targets.ts'
import type { OtlpHub } from '../otlp/hub.ts'
import type { PolicyIndex } from '../policy/policy-index.ts'
import type { CompileEnvironment } from './compile-environment.ts'

export interface DeclaredFunctions {
  readonly text: string | undefined
  readonly environment: CelEnvironment
}

export interface CompileContext {
  readonly environment: CompileEnvironment
  readonly policies: PolicyIndex
  readonly directory: Directory
  readonly resolver: TargetResolver
  /** The functions of expressions; the same object while the configurations declare the same. */
  readonly functions: DeclaredFunctions
  /** Permissive, and cached: the same text is compiled once for a configuration. */
  readonly expression: (source: string) => CelExpression
  readonly secret: (ref: SecretRef) => string | undefined
  readonly auth: AuthStores
  readonly otlp: OtlpHub
  /** Places of credentials in requests of this configuration. */
  readonly credentialNames: () => CredentialNames
}
