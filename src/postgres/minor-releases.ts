/** The newest minor releases on `updatedOn`. Update both with each release of Tillbridge (https://www.postgresql.org/support/versioning/). */
const newestMinors: Readonly<Record<number, number>> = { 15: 20, 16: 16, 17: 12, 18: 6 }
export const updatedOn = '2026-11-27'

/**
 * Compares a server (`server_version_num`) with the newest known minor release of its major version. `behind` is the number of releases
 * that it lacks; 0 for a newer server or an unknown major version.
 */
export function compareMinor(versionNumber: number): { version: string; newest: string; behind: number } {
  const [major, minor] = [Math.floor(versionNumber / 10_000), versionNumber % 10_000]
  const newest = newestMinors[major] ?? minor
  return { version: `${major}.${minor}`, newest: `${major}.${newest}`, behind: Math.max(0, newest - minor) }
}
