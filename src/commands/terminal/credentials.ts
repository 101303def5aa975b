import { apiKeyOf } from '../../accounts.ts'

/** What is said of a password that was just made. The API key is ready for `Authorization: Basic`. */
export const credentials = (username: string, password: string) =>
  `Password: ${password}\nAPI key: ${apiKeyOf(username, password)}\nThey are shown this once and cannot be read again.`
