// Something the generators read is not there. The message names it and the command that fetches it.

export class MissingInput extends Error {
  constructor(what: string, command: string) {
    super(`${what} is missing: run \`${command}\``)
  }
}
