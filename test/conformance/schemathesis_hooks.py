"""The one reply that OpenAPI can't describe.

A missing or malformed Authorization header gets a 401 without a body, every other 401 has one; a description can say
only one of the two for a status. The bare one is checked here, then shown to schemathesis as the described one.
"""

import schemathesis

BODY = b'{"status":401,"message":"Invalid token","reason":null}'


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code != 401 or response.content:
        return
    sent = response.request.headers.get("Authorization", "")
    assert not sent.startswith("Bearer "), "a bare 401 although a bearer was sent"
    assert response.headers.get("www-authenticate") == ["Bearer"], "a bare 401 without its challenge"
    assert "content-type" not in response.headers, "a bare 401 with a content type"
    response.headers["content-type"] = ["application/json"]
    response.content = BODY
