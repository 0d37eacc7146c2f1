// `format.dns1123Label().validate(text)` and `sets.*` in CEL rules.
import { type Environment, Optional } from '@marcbachmann/cel-js'
import { Url } from './url.ts'
import { equal, formats, re2 } from '../runtime.ts'

class NamedFormat {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** What the name `format` stands for: only its methods matter. */
class FormatLibrary {
  readonly name = 'format'
}

class SetLibrary {
  readonly name = 'sets'
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]'

type Check = (text: string) => boolean

const CHECKS: Readonly<Record<string, Check>> = {
  dns1123Label: limited(63, `^${LABEL}$`),
  dns1123Subdomain: limited(253, `^${SUBDOMAIN}$`),
  dns1035Label: limited(63, '^[a-z]([-a-z0-9]*[a-z0-9])?$'),
  dns1123LabelPrefix: (text) => limited(63, `^${LABEL}$`)(text.replace(/-$/, 'a')),
  dns1123SubdomainPrefix: (text) => limited(253, `^${SUBDOMAIN}$`)(text.replace(/-$/, 'a')),
  dns1035LabelPrefix: (text) => limited(63, '^[a-z]([-a-z0-9]*[a-z0-9])?$')(text.replace(/-$/, 'a')),
  qualifiedName: limited(317, `^(${SUBDOMAIN}/)?${QUALIFIED}$`),
  labelValue: limited(63, `^(${QUALIFIED})?$`),
  uri: (text) => Url.parse(text) !== undefined,
  uuid: (text) => formats['uuid']?.(text) === true,
  byte: (text) => formats['byte']?.(text) === true,
  date: (text) => formats['date']?.(text) === true,
  datetime: (text) => formats['date-time']?.(text) === true,
}

export function registerNamedFormats(environment: Environment): void {
  environment
    .registerType('FormatLibrary', FormatLibrary)
    .registerType('NamedFormat', NamedFormat)
    .registerConstant('format', 'FormatLibrary', new FormatLibrary())
    .registerFunction('NamedFormat.validate(string): optional', (named: NamedFormat, text: string) => {
      const isGood = CHECKS[named.name]?.(text) === true
      return isGood ? Optional.none() : Optional.of([`must be a ${named.name}`])
    })
    .registerFunction('FormatLibrary.named(string): optional', (_: FormatLibrary, name: string) => {
      return Object.hasOwn(CHECKS, name) ? Optional.of(new NamedFormat(name)) : Optional.none()
    })
  for (const name of Object.keys(CHECKS)) {
    environment.registerFunction(`FormatLibrary.${name}(): NamedFormat`, () => new NamedFormat(name))
  }
}

export function registerSets(environment: Environment): void {
  environment
    .registerType('SetLibrary', SetLibrary)
    .registerConstant('sets', 'SetLibrary', new SetLibrary())
    .registerFunction('SetLibrary.contains(list<dyn>, list<dyn>): bool', (_: SetLibrary, left: Items, right: Items) => {
      return containsAll(left, right)
    })
    .registerFunction(
      'SetLibrary.equivalent(list<dyn>, list<dyn>): bool',
      (_: SetLibrary, left: Items, right: Items) => {
        return containsAll(left, right) && containsAll(right, left)
      },
    )
    .registerFunction(
      'SetLibrary.intersects(list<dyn>, list<dyn>): bool',
      (_: SetLibrary, left: Items, right: Items) => {
        return right.some((item) => left.some((other) => equal(item, other)))
      },
    )
}

type Items = readonly unknown[]

function containsAll(left: Items, right: Items): boolean {
  return right.every((item) => left.some((other) => equal(item, other)))
}

function limited(lengthMax: number, pattern: string): Check {
  return (text) => text.length <= lengthMax && re2(pattern).test(text)
}
