// Changes of query parameters by an authorization service. Everything else of the query keeps its bytes.
import { withoutQueryParameter } from '../../../auth/request-fields.ts'

/** The only parameter of that name, at the end. */
export function withQueryParameter(query: string, name: string, value: string): string {
  const parameter = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  const rest = withoutQueryParameter(query, name)
  return rest === '' ? parameter : `${rest}&${parameter}`
}
