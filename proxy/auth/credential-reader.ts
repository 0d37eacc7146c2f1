// Where a policy finds the credential of a client, and how it removes it (data-plane supplement section 8.1).
import type { CelExpression } from '#api/cel/expression.ts'
import type { ExtractionLocation } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { headersOfExpression } from '../log/credential-names.ts'
import { textOfLatin1 } from '../message/latin1-text.ts'
import { isSensitiveHeader } from '#api/credentials/sensitive-headers.ts'
import { evaluateCredential, readsBody } from '../cel/evaluate.ts'
import { cookieValue, queryParameter, removeCookie, withoutQueryParameter } from './request-fields.ts'

export interface CredentialReader {
  /** undefined: the client sent no credential. Never empty. */
  read(exchange: Exchange): string | undefined
  /** Removes the credential from the request; values read by an expression stay. */
  remove(exchange: Exchange): void
  readonly readsRequestBody: boolean
}

export function compileCredentialReader(
  location: ExtractionLocation | undefined,
  schemePrefix: string,
  expression: (source: string) => CelExpression,
): CredentialReader {
  if (location?.queryParameter !== undefined) return queryReader(location.queryParameter.name)
  if (location?.cookie !== undefined) return cookieReader(location.cookie.name)
  if (location?.expression !== undefined) return expressionReader(location.expression, expression(location.expression))
  const header = location?.header ?? { name: 'authorization', prefix: schemePrefix }
  return headerReader(header.name.toLowerCase(), header.prefix ?? '')
}

/** Failures of credentials for a proxy are 407 (RFC 9110 section 11.7). */
export function isProxyAuthorization(location: ExtractionLocation | undefined): boolean {
  return location?.header?.name.toLowerCase() === 'proxy-authorization'
}

function headerReader(name: string, prefix: string): CredentialReader {
  const { length } = prefix
  const lowerPrefix = prefix.toLowerCase()
  // Well-known headers are hidden wherever they appear.
  const hidden = isSensitiveHeader(name) ? undefined : [name]
  return {
    read({ request }) {
      const value = request.headers.get(name)
      if (value === undefined) return undefined
      if (hidden !== undefined) request.hideFields(hidden)
      // The scheme is compared without case (RFC 9110 section 11.1); it is ASCII, so its length never changes.
      if (length > 0 && !value.startsWith(prefix) && value.slice(0, length).toLowerCase() !== lowerPrefix) {
        return undefined
      }
      return filled(textOf(value.slice(length).trim()))
    },
    remove({ request }) {
      request.headers.remove(name)
    },
    readsRequestBody: false,
  }
}

function queryReader(name: string): CredentialReader {
  return {
    read({ request }) {
      const value = filled(queryParameter(request.query, name))
      // The access log shows the query without the credential, whether it is valid or not.
      if (value !== undefined) request.loggedQuery = withoutQueryParameter(request.loggedQuery ?? request.query, name)
      return value
    },
    remove({ request }) {
      request.query = withoutQueryParameter(request.query, name)
    },
    readsRequestBody: false,
  }
}

function cookieReader(name: string): CredentialReader {
  return {
    read: ({ request }) => filled(textOf(cookieValue(request.headers, name))),
    remove({ request }) {
      removeCookie(request.headers, name)
    },
    readsRequestBody: false,
  }
}

function expressionReader(source: string, expression: CelExpression): CredentialReader {
  const hidden = headersOfExpression(source)
  return {
    read(exchange) {
      if (hidden.length > 0) exchange.request.hideFields(hidden)
      const value = evaluateCredential(expression, exchange)
      return typeof value === 'string' ? filled(value) : undefined
    },
    remove() {},
    readsRequestBody: readsBody([expression], 'request'),
  }
}

/** Header fields are bytes shown as Latin-1; configuration is text. */
function textOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : textOfLatin1(value)
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
