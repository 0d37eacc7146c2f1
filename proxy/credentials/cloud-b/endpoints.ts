// Where the library of cloudB may send requests: the authorities of the vendor, and what the environment of the process
// names. Nothing that a policy or a Secret contains adds a host.

/** The vendor's authorities, of its public and its national clouds. */
const AUTHORITIES: ReadonlySet<string> = new Set([
  'login.microsoftonline.com',
  'login.microsoft.com',
  'login.microsoftonline.us',
  'login.chinacloudapi.cn',
  'login.partner.microsoftonline.cn',
])

/** The instance metadata service, and the agent of machines outside of the cloud. */
const METADATA: ReadonlySet<string> = new Set(['169.254.169.254', '127.0.0.1:40342', 'localhost:40342'])

/** Endpoints that the platforms of the vendor name in the environment. */
const NAMED = [
  'AZURE_AUTHORITY_HOST',
  'AZURE_POD_IDENTITY_AUTHORITY_HOST',
  'IDENTITY_ENDPOINT',
  'MSI_ENDPOINT',
  'IMDS_ENDPOINT',
] as const

export function admitsCloudB(url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:' && AUTHORITIES.has(url.host)) return true
  if (url.protocol === 'http:' && METADATA.has(url.host)) return true
  return NAMED.some((name) => URL.parse(process.env[name] ?? '')?.origin === url.origin)
}
