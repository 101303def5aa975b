import os
import requests

url = os.environ['TILLBRIDGE_URL']
session = requests.Session()
session.auth = (os.environ['TILLBRIDGE_USERNAME'], os.environ['TILLBRIDGE_PASSWORD'])
session.headers['X-Service-Name'] = os.environ['TILLBRIDGE_SERVICE']


class TillbridgeError(Exception):
    """An error response. `code` is stable; branch on it."""

    def __init__(self, response):
        problem = response.json()
        super().__init__(f"{problem['detail']} ({problem['code']}, request {problem['requestId']})")
        self.status, self.code, self.errors = response.status_code, problem['code'], problem.get('errors', [])


def tillbridge(method, path, json=None, headers=None, params=None):
    """Sends a request. Returns the decoded response; raises TillbridgeError if it is an error."""
    response = session.request(method, url + path, json=json, headers=headers, params=params, timeout=30)
    if not response.ok:
        raise TillbridgeError(response)
    return response.json()
