import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { callApi } from '../lib/api.js'
import { useLoad } from './use-load.js'
import { useRefresh } from './use-refresh.js'

/**
 * A problem of `GET /health`.
 * @typedef {{ level: 'degraded' | 'critical', kind: string, subject: string, title: string, detail: string | null, alert: string | null, since: string | null }} HealthProblem
 * @typedef {{ level: 'ok' | 'degraded' | 'critical', problems: HealthProblem[], lastBackupAt: string | null }} Health
 */

/** The health that the home screen and the badges share. `health` is undefined until it is loaded. */
export const HealthContext = createContext(
  /** @type {{ health: Health | undefined, error: unknown, minute: number, reload: () => void }} */ ({
    health: undefined,
    error: undefined,
    minute: 0,
    reload() {},
  }),
)
export const useHealth = () => useContext(HealthContext)

/** Loads the health of the service, and loads it again each minute and on each screen. @param {string | undefined} screen */
export function useLoadedHealth(screen) {
  const minute = useRefresh(60_000)
  const { data, error, reload } = useLoad(
    signal => callApi('/health', { signal }).then(response => response.data),
    [minute, screen],
  )
  return { health: data, error, minute, reload }
}

/** The screen of each kind of problem. Other kinds are on the overview only. */
const screens = { back: 'back-office', sync: 'syncs', import: 'syncs', webhook: 'webhooks' }

/** Returns the screen that shows a problem. @param {string} kind @returns {string | undefined} */
export const getScreen = kind => screens[/** @type {keyof typeof screens} */ (kind.split('_')[0])]

/** Counts the problems of a screen. The overview counts all of them. @param {Health | undefined} health @param {string} screen */
export function countProblems(health, screen) {
  const problems = health?.problems.filter(({ kind }) => screen === 'overview' || getScreen(kind) === screen) ?? []
  return { count: problems.length, isCritical: problems.some(({ level }) => level === 'critical') }
}
