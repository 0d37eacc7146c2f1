// Version of this build; package.json holds the same.
export const VERSION = '0.1.0'
