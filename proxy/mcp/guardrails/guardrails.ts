// Guardrails of MCP: each service in its order, the first rejection ends (data-plane supplement section 4.5). Reports
// results to log, metrics and trace, never with parameters or results.
import type { MCPGuardrails } from '#api/ir/types.gen.ts'
import type { JsonRecord } from '#api/json.ts'
import { isInTime } from '../../backend/failover.ts'
import { ServiceError } from '../../chain/service.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { GuardAction, GuardChecks } from '../../exchange/facts.ts'
import type { GuardVerdict, McpGuard } from '../context.ts'
import { INTERNAL_ERROR } from '../jsonrpc.ts'
import { compileMethods, type MethodPhase } from './methods.ts'
import { compileProcessor, type GuardrailEnvironment, type Processor } from './processor.ts'

type Phase = GuardChecks['phase']

const FAILED: GuardVerdict = { error: { code: INTERNAL_ERROR, message: 'a guardrail could not check the message' } }
const PHASES: { readonly [P in MethodPhase]: readonly Phase[] } = {
  Off: [],
  Request: ['Request'],
  Response: ['Response'],
  Full: ['Request', 'Response'],
}

export function mcpGuardrails({ processors }: MCPGuardrails, environment: GuardrailEnvironment): McpGuard {
  const compiled = processors.map((settings) => ({
    phaseOf: compileMethods(settings.methods),
    processor: compileProcessor(settings, environment),
  }))
  const asked = (method: string, phase: Phase): Processor[] =>
    compiled.filter(({ phaseOf }) => PHASES[phaseOf(method)].includes(phase)).map(({ processor }) => processor)
  return {
    checkRequest({ exchange }, { method, params }, targets) {
      const all = asked(method, 'Request')
      return all.length === 0
        ? undefined
        : run(all, { exchange, phase: 'Request' }, (processor, mutated) =>
            processor.checkRequest({ exchange, method, targets, params: mutated ?? params }),
          )
    },
    checkResponse({ exchange }, { request: { method }, result, targets }) {
      const all = asked(method, 'Response')
      return all.length === 0
        ? undefined
        : run(all, { exchange, phase: 'Response' }, (processor, mutated) =>
            processor.checkResult({ exchange, method, targets, result: mutated ?? result }),
          )
    },
  }
}

interface Place {
  readonly exchange: Exchange
  readonly phase: Phase
}

/** `check` gets the mutation of the previous services; undefined: they changed nothing. */
async function run(
  processors: readonly Processor[],
  place: Place,
  check: (processor: Processor, mutated: JsonRecord | undefined) => Promise<GuardVerdict>,
): Promise<GuardVerdict> {
  let mutated: JsonRecord | undefined
  for (const processor of processors) {
    const verdict = await verdictOf(processor, place, check(processor, mutated))
    if ('error' in verdict) return verdict
    mutated = verdict.value ?? mutated
  }
  return { value: mutated }
}

async function verdictOf(
  { failureMode }: Processor,
  { exchange, phase }: Place,
  checking: Promise<GuardVerdict>,
): Promise<GuardVerdict> {
  const side = phase.toLowerCase()
  try {
    const verdict = await checking
    report(exchange, phase, 'error' in verdict ? 'Reject' : verdict.value === undefined ? 'Allow' : 'Mask')
    if ('error' in verdict) noteRejection(exchange, `a guardrail rejected the ${side}`)
    return verdict
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const detail = `a guardrail of the ${side} failed: ${error.message}`
    report(exchange, phase, failureMode)
    exchange.trace?.note(detail)
    // No service is skipped because the client waits no longer.
    if (failureMode === 'FailClosed' || !isInTime(exchange)) {
      noteRejection(exchange, detail)
      return FAILED
    }
    exchange.errorDetail ??= detail
    return { value: undefined }
  }
}

function noteRejection(exchange: Exchange, detail: string): void {
  exchange.reason = 'Guardrail'
  exchange.errorDetail = detail
}

function report(exchange: Exchange, phase: Phase, action: GuardAction): void {
  const checks = exchange.mcp === undefined ? [] : (exchange.mcp.guards ??= [])
  const known = checks.find((one) => one.phase === phase && one.action === action)
  if (known === undefined) checks.push({ phase, guard: 'mcp', action, count: 1, matched: new Set() })
  else known.count++
  const details = `mcp on the ${phase.toLowerCase()}: ${action}`
  exchange.trace?.write({ type: 'policyEvent', kind: 'mcpGuardrails', details })
}
