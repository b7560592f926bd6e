document.body.append("x")
