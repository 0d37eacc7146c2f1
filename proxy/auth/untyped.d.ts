// Packages without types of their own.
declare module 'apache-md5' {
  /** `salt`: a hash or its beginning, `$apr1$salt$...`. Text is taken as Latin-1. */
  export default function md5(password: string, salt: string): string
}
declare module 'unix-crypt-td-js' {
  /** `salt`: a hash or its first two characters. Characters of the password are bytes. */
  export default function unixCryptTD(password: readonly number[], salt: string): string
}
