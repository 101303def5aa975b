import type { Dependency } from './dependencies.ts'

/** The software bill of materials: CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), each package with its digest and its licence. */
export const bomOf = (version: string, dependencies: readonly Dependency[]) => ({
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', 'bom-ref': 'tillbridge', name: 'tillbridge', version } },
  components: dependencies.map(componentOf),
  dependencies: [{ ref: 'tillbridge', dependsOn: dependencies.map(({ path }) => path) }],
})

function componentOf({ path, name, version, integrity, license }: Dependency) {
  const [algorithm, digest = ''] = integrity?.split('-') ?? []
  return {
    type: 'library',
    'bom-ref': path,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    // Those of the SPDX list alone may be called an identifier; what is said of others is an expression, or a name.
    ...(license !== undefined && {
      licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { name: license } }],
    }),
  }
}
