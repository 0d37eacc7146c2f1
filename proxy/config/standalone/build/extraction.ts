// Where a credential of the client is read, and where one for a backend is written, as the contract has it.
import type { CredentialLocation, ExtractionLocation } from '#api/ir/types.gen.ts'
import type { Extraction } from '../schema/authentication.ts'
import type { Location } from '../schema/policies.ts'
import { defined } from './defined.ts'

export function renderExtraction({ header, queryParameter, cookie, expression }: Extraction): ExtractionLocation {
  return defined({
    header: header && { name: header.name, ...defined({ prefix: header.prefix }) },
    queryParameter,
    cookie,
    expression,
  })
}

export function renderLocation({ header, queryParameter, cookie }: Location): CredentialLocation {
  return defined({
    header: header && { name: header.name, ...defined({ prefix: header.prefix }) },
    queryParameter,
    cookie,
  })
}
