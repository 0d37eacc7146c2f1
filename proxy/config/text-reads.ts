// Records whether the expressions of a plan read texts of LLM requests and answers: these are kept only if one does.
import type { CelExpression } from '#api/cel/expression.ts'
import { textReads } from '../cel/evaluate.ts'
import type { TextReads } from '../exchange/slots.ts'
import type { CompileContext } from './context.ts'

/** Filled while the plan is compiled, and later where a part is compiled on first use. */
export class RecordedTextReads implements TextReads {
  request = false
  response = false

  add(expression: CelExpression): CelExpression {
    const { request, response } = textReads([expression])
    this.request ||= request
    this.response ||= response
    return expression
  }
}

export interface RecordingContext extends CompileContext {
  readonly textReads: RecordedTextReads
}

/** The same context, which records what is compiled in it. */
export function recordingTextReads(context: CompileContext): RecordingContext {
  const recorded = new RecordedTextReads()
  const { environment, policies, directory, resolver, secret, credentialNames } = context
  return {
    environment,
    policies,
    directory,
    resolver,
    secret,
    credentialNames,
    // Lookups of these are recorded when they are used.
    get functions() {
      return context.functions
    },
    get auth() {
      return context.auth
    },
    get otlp() {
      return context.otlp
    },
    expression: (source) => recorded.add(context.expression(source)),
    textReads: recorded,
  }
}
