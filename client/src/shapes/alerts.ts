// Made of the operations of the API by `npm run docs`.

export interface Alert {
  /** The identifier of the alert. */
  id: string
  /** What has happened, in a word that does not change. */
  kind: string
  /** What it has happened to; empty where it is the service. */
  subject: string
  /** What has happened. */
  title: string
  /** What was met. */
  detail: string
  /** What to do about it. */
  wayOut: string
  /** The path that tells more. */
  path: string | null
  /** Whether it goes by itself once what it is about is well again. */
  settlesItself: boolean
  /** How often it has happened. */
  times: number
  /** When it first happened. */
  since: string
  /** When it last happened. */
  lastAt: string
}
