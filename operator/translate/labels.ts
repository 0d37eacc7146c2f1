// Label selectors, as the API server evaluates them.

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelExpression[]
}

export interface LabelExpression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export type Labels = Readonly<Record<string, string>> | undefined

/** An empty selector matches everything; an unknown operator matches nothing. */
export function matchesSelector(selector: LabelSelector, labels: Labels): boolean {
  return (
    matchesLabels(selector.matchLabels ?? {}, labels) &&
    (selector.matchExpressions ?? []).every((expression) => matchesExpression(expression, labels))
  )
}

export function matchesLabels(wanted: Readonly<Record<string, string>>, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labelOf(labels, key) === value)
}

function matchesExpression(expression: LabelExpression, labels: Labels): boolean {
  const value = labelOf(labels, expression.key)
  const values = expression.values ?? []
  switch (expression.operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  // A manifest may contain `labels:` without a value.
  const own = labels ?? {}
  return Object.hasOwn(own, key) ? own[key] : undefined
}
