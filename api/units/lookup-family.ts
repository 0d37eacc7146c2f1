// Which addresses of a name a proxy uses: the values of DNS_LOOKUP_FAMILY. IPv4 comes first wherever both may be used.

export const LOOKUP_FAMILIES = ['V4_PREFERRED', 'ALL', 'AUTO', 'V4_ONLY', 'V6_ONLY'] as const
export type LookupFamily = (typeof LOOKUP_FAMILIES)[number]
