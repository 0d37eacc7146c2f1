// Which tools of an MCP backend an identity may call, by the rules of `backend.mcp.authorization`: for the admin
// server. The decision is that of requests (policy/auth/authorization.ts), with variables that the caller gives. No
// server gets a request.
import type { components } from '#api/admin/types.gen.ts'
import { compilePermissive, EVALUATION_STEPS_MAX } from '#api/cel/compile.ts'
import { BudgetExceeded, type CelBudget, CelError, type CelExpression } from '#api/cel/expression.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import type { Backend, RenderedConfig, Route, RouteBackend } from '#api/ir/types.gen.ts'
import { isRecord } from '#api/json.ts'
import { givenVariables } from '../cel/given-variables.ts'
import { type McpRules, mcpRules } from './effective-policies.ts'

type Schemas = components['schemas']
type Question = Schemas['McpAccessQuestion']
type Access = Schemas['McpAccess']
type ToolAccess = Access['tools'][number]
type Action = Access['rules'][number]['action']

/** Of all tools together: a tenth of a second. */
const STEPS_MAX = 4 * EVALUATION_STEPS_MAX
/** Rules times tools. */
const EVALUATIONS_MAX = 50_000
/** Of one tool. */
const PROBLEMS_MAX = 10

export type AccessProblem = { readonly problem: string }

/** `config` undefined: none is in force. */
export function mcpAccess(config: RenderedConfig | undefined, question: Question): Access | AccessProblem {
  const backend = config?.backends.find(({ name, mcp }) => mcp !== undefined && isSame(name, question.backend))
  if (config === undefined || backend === undefined)
    return { problem: 'backend: the configuration has no such MCP backend' }
  const found = routeTo(config, backend, question.route)
  const rules = found && mcpRules(config, found.route, found.ref)
  if (found === undefined || rules === undefined) return { problem: 'route: no such rule leads to the backend' }
  if (rules.rules.length * question.tools.length > EVALUATIONS_MAX) {
    return { problem: `tools: at most ${Math.floor(EVALUATIONS_MAX / rules.rules.length)} with so many rules` }
  }
  const identity = identityOf(question, backend)
  if ('problem' in identity) return { problem: `variables: ${identity.problem}` }
  const compiled = compiledRules(rules, config.customFunctions)
  const budget = { celStepsLeft: STEPS_MAX }
  return {
    route: found.route.key,
    deny: rules.deny ?? null,
    rules: rules.rules.map(({ rule, source }) => ({
      source: source ?? null,
      action: rule.action,
      expressions: [...rule.matchExpressions],
    })),
    tools: question.tools.map((tool) => {
      if (rules.deny !== undefined) return { ...tool, isAllowed: false, decidedBy: null, problems: [] }
      return { ...tool, ...verdictOf(compiled, { ...identity.variables, mcp: callOf(tool) }, budget) }
    }),
  }
}

function isSame(a: Backend['name'], b: Backend['name']): boolean {
  return a.namespace === b.namespace && a.name === b.name
}

/** `key`: of the rule; undefined: the first one. */
function routeTo(
  config: RenderedConfig,
  backend: Backend,
  key: string | undefined,
): { readonly route: Route; readonly ref: RouteBackend } | undefined {
  for (const route of config.routes) {
    if (key !== undefined && route.key !== key) continue
    const ref = route.backends.find((one) => one.ref.backend === backend.key)
    if (ref !== undefined) return { route, ref }
  }
  return undefined
}

interface CompiledRule {
  /** In the list of all rules. */
  readonly at: number
  readonly expressions: readonly CelExpression[]
}
type Compiled = Readonly<Record<Action, readonly CompiledRule[]>>

function compiledRules({ rules }: McpRules, functions: string | undefined): Compiled {
  const environment = environmentWith(functions)
  const ofAction = (action: Action): CompiledRule[] =>
    rules.flatMap(({ rule }, at) =>
      rule.action === action
        ? [{ at, expressions: rule.matchExpressions.map((source) => compilePermissive(source, environment)) }]
        : [],
    )
  return { Deny: ofAction('Deny'), Require: ofAction('Require'), Allow: ofAction('Allow') }
}

/** The variables of the caller, and those of each call to the backend. */
function identityOf(
  { variables }: Question,
  { name: { namespace, name } }: Backend,
): { readonly variables: Variables } | AccessProblem {
  const { request } = variables
  try {
    return {
      variables: givenVariables({
        backend: { name: `${namespace}/${name}`, type: 'mcp' },
        ...variables,
        request: { method: 'POST', headers: {}, ...(isRecord(request) && request) },
      }),
    }
  } catch (error) {
    if (error instanceof CelError) return { problem: error.message }
    throw error
  }
}

function callOf({ server: target, name }: Question['tools'][number]): object {
  return { methodName: 'tools/call', tool: { target, name } }
}

type Variables = Readonly<Record<string, unknown>>
type Verdict = Pick<ToolAccess, 'isAllowed' | 'decidedBy' | 'problems'>

function verdictOf({ Deny, Require, Allow }: Compiled, variables: Variables, budget: CelBudget): Verdict {
  const problems: ToolAccess['problems'] = []
  const matches = (rule: CompiledRule, isDeny = false): boolean => {
    const { result, problem } = resultOf(rule, variables, { budget, isDeny })
    if (problem !== undefined && problems.length < PROBLEMS_MAX) problems.push({ rule: rule.at, message: problem })
    return result
  }
  const denying = Deny.find((rule) => matches(rule, true))
  if (denying !== undefined) return { isAllowed: false, decidedBy: denying.at, problems }
  const missing = Require.find((rule) => !matches(rule))
  if (missing !== undefined) return { isAllowed: false, decidedBy: missing.at, problems }
  const allowing = Allow.find((rule) => matches(rule))
  if (allowing !== undefined) return { isAllowed: true, decidedBy: allowing.at, problems }
  return { isAllowed: Allow.length === 0, decidedBy: null, problems }
}

interface RuleOptions {
  readonly budget: CelBudget
  /** A rule that is too expensive counts as a match. */
  readonly isDeny: boolean
}

function resultOf(
  { expressions }: CompiledRule,
  variables: Variables,
  { budget, isDeny }: RuleOptions,
): { readonly result: boolean; readonly problem?: string } {
  for (const expression of expressions) {
    try {
      if (expression.evaluate(variables, budget) !== true) return { result: false }
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      return { result: isDeny && error instanceof BudgetExceeded, problem: error.message }
    }
  }
  return { result: true }
}
