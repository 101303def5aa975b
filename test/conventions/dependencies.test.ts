import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const readJson = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
const packageJson = readJson('package.json')

interface LockedPackage {
  version?: string
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
}

/** Packages that `npm ci` installs, by path. */
const installed = Object.entries<LockedPackage>(readJson('package-lock.json').packages).filter(
  ([place, { link }]) => place.includes('node_modules/') && !link,
)
const getPackageName = (place: string) => place.split('node_modules/').at(-1) ?? ''

test('each installed package is pinned by its hash', () => {
  assert.ok(installed.length > 100)
  for (const [place, { integrity }] of installed) assert.match(integrity ?? '', /^sha512-/, place)
})

test('each direct dependency has an exact version', () => {
  const direct = [packageJson.dependencies, packageJson.devDependencies, packageJson.optionalDependencies].flatMap(
    versions => Object.entries<string>(versions),
  )
  for (const [name, version] of direct) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$|^file:$/, name)
})

test('only listed packages run scripts when they are installed', () => {
  const withScript = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([place]) => getPackageName(place))
  assert.deepEqual(
    withScript.filter(name => !Object.hasOwn(packageJson.allowScripts, name)),
    [],
  )
})
