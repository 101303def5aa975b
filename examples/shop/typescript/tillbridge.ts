import { tillbridge } from 'tillbridge-client'

const { TILLBRIDGE_URL = '', TILLBRIDGE_USERNAME, TILLBRIDGE_PASSWORD, TILLBRIDGE_SERVICE = '' } = process.env

export const client = tillbridge({
  url: TILLBRIDGE_URL,
  apiKey: btoa(`${TILLBRIDGE_USERNAME}:${TILLBRIDGE_PASSWORD}`),
  service: TILLBRIDGE_SERVICE,
})
