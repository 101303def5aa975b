import { readFileSync } from 'node:fs'

/** A package of a release, with the fields of package-lock.json. */
export interface Dependency {
  /** Its folder: `node_modules/pg`. */
  path: string
  name: string
  version: string
  /** `sha512-` and base64. */
  integrity?: string
  license?: string
}

interface LockedPackage {
  version?: string
  integrity?: string
  license?: string
  dev?: boolean
  link?: boolean
  os?: string[]
  cpu?: string[]
}

/**
 * Reads the dependencies that the product needs at run time on this system and processor, without dependencies for builds
 * and tests.
 */
export function readDependencies(lockFile: URL): Dependency[] {
  const { platform, arch } = process
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, LockedPackage> }
  return Object.entries(packages)
    .filter(
      ([path, { dev, link, os, cpu }]) => path && !dev && !link && isAllowed(os, platform) && isAllowed(cpu, arch),
    )
    .map(([path, { version = '', integrity, license }]) => ({
      path,
      name: path.replace(/^.*node_modules\//, ''),
      version,
      ...(integrity !== undefined && { integrity }),
      ...(license !== undefined && { license }),
    }))
}

const isAllowed = (allowed: string[] | undefined, value: string) => allowed === undefined || allowed.includes(value)
